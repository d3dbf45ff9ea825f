import type { Unattended } from '../auth'
import type { Files } from '../files'
import { iso, isoOrNull } from '../kernel/clock'
import type { Store } from '../kernel/store'
import type { Presenter } from './present'
import { actionsOf } from './recorder'
import type { Recording } from './schema-recording'
import type { ActionRow, SessionRow } from './table'

type Deps = {
  store: Store
  files: Pick<Files, 'find'>
  hasAccess(row: SessionRow): Promise<boolean>
  present: Pick<Presenter, 'playerUrl'>
}

/** Whether who began a session may still use this server. One of no key is the person's own, in any organization. */
export const accessOf =
  ({ unattended }: { unattended: Unattended }) =>
  async ({ user_id, key_id: api_key_id }: SessionRow): Promise<boolean> =>
    (await unattended({ user_id, api_key_id, active_org_id: null })) !== null

/** What was done in a session, with fresh links to its pictures (contract 28.3). Pictures that are gone are null. */
export const recordingOf =
  (deps: Deps) =>
  async (row: SessionRow): Promise<Recording> => {
    const { files, hasAccess, present } = deps
    const reader = deps.store.read
    const actions = await actionsOf(reader, row.owner, row.id)
    const shown = async ({ at, actor, tool, input, target, ok, result, url, frame }: ActionRow) => ({
      at: iso(at),
      by: actor,
      tool,
      input,
      target,
      ok,
      result,
      url,
      frame_url: frame === null ? null : ((await files.find(reader, row.owner, frame))?.url ?? null),
    })
    return {
      session_id: row.id,
      started_at: iso(row.started_at),
      ended_at: isoOrNull(row.ended_at),
      actions: await Promise.all(actions.map(shown)),
      player_url: present.playerUrl(row, await hasAccess(row)),
    }
  }
