import type { Clock } from '../kernel/clock'
import type { OpenSession } from './host'
import type { Presenter } from './present'
import type { LiveView } from './schema'
import type { SessionRow } from './table'

type Deps = { clock: Clock; present: Presenter }

/** How long `/live` answers the same without `force` (contract 16.1). */
const SHOWN_MS = 60_000

/** What `/live` answered in the last minute, as long as the version is the same; null when that is not known. */
export function lastShown({ clock }: Pick<Deps, 'clock'>, { shown }: OpenSession, row: SessionRow): LiveView | null {
  if (!shown || shown.view.live_view_version !== row.view_version) return null
  return clock.monotonic() - shown.at < SHOWN_MS ? { ...shown.view } : null
}

/** The tabs of a session as they are now, and the link to look at them. */
export async function showNow({ clock, present }: Deps, session: OpenSession, row: SessionRow): Promise<LiveView> {
  const pages = await Promise.all(session.live.tabs().map(session.live.facts))
  const view = { session_id: row.id, live_view_url: present.viewUrl(row), live_view_version: row.view_version, pages }
  session.shown = { at: clock.monotonic(), view }
  return { ...view }
}

/** Where the tab in front is, as the row of its session keeps it. */
export async function seenNow({ live }: OpenSession): Promise<Pick<SessionRow, 'url' | 'title' | 'favicon_url'>> {
  const { url, title, favicon_url } = await live.facts(live.page())
  return { url, title, favicon_url }
}
