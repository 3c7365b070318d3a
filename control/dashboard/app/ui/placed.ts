// Something at a share of its parent's width: bars, marks, the words of a scale.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** `left` and `width` in per cent, set through CSSOM: the policy allows no style attribute. */
export function Placed(props: {
  left: number;
  width?: number;
  class?: string;
  title?: string;
  children?: ComponentChildren;
}) {
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (box.current === null) return;
    box.current.style.left = `${props.left}%`;
    if (props.width !== undefined) box.current.style.width = `${props.width}%`;
  }, [props.left, props.width]);
  return html`<span ref=${box} class=${props.class} title=${props.title}>${props.children}</span>`;
}
