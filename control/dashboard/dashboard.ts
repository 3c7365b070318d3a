// The dashboard on the daemon's side, put together: its page and assets, and the API that its sessions use.
import { Router } from 'express';
import { openAssets } from './assets.ts';
import { pageRoutes } from './pages.ts';

export interface DashboardOptions {
  /** Read the app's files again when they change. */
  reload: boolean;
}

export interface Dashboard {
  /** For createApp's `pages`. */
  pages: Router;
}

/** Opens the dashboard. */
export function openDashboard(o: DashboardOptions): Dashboard {
  const pages = Router({ caseSensitive: true });
  pages.use(pageRoutes(openAssets(o.reload)));
  return { pages };
}
