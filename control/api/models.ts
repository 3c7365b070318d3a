// The route of the speech models: which there are, and what helps to choose one. How they are reached is the operator's.
import { modelSetupOf } from '../../bridge/setups.ts';
import { type Route, route } from '../http/route.ts';
import { modelList } from './model-schemas.ts';

export const modelRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/models',
    operation: 'listModels',
    summary: 'List the speech models that agents may have',
    status: 200,
    answer: modelList,
    async run({ models }) {
      const data = models.names.flatMap((name) => {
        const access = models.access(name);
        if (access === null) return [];
        const { kind, voices, defaultVoice, formats, capabilities } = modelSetupOf(access.kind);
        return [
          {
            name,
            is_default: name === models.defaultName,
            kind,
            model: access.model,
            voices: [...voices],
            default_voice: defaultVoice,
            audio_formats: formats.map(({ encoding, rateHz }) => ({ encoding, rate_hz: rateHz })),
            capabilities: {
              truncates: capabilities.truncates,
              says_lines: capabilities.saysLines,
              calls_tools: capabilities.callsTools,
            },
          },
        ];
      });
      return { body: { data } };
    },
  }),
];
