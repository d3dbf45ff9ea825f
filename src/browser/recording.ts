import type { Files } from '../files'
import { iso, isoOrNull } from '../kernel/clock'
import type { Reader } from '../kernel/store'
import { actionsOf } from './recorder'
import type { Recording } from './schema-recording'
import type { ActionRow, SessionRow } from './table'

type Deps = { files: Pick<Files, 'find'> }

/** What was done in a session, with fresh links to its pictures (contract 28.3). Pictures that are gone are null. */
export async function recordingOf(
  { files }: Deps,
  reader: Reader,
  row: SessionRow,
  playerUrl: string,
): Promise<Recording> {
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
    player_url: playerUrl,
  }
}
