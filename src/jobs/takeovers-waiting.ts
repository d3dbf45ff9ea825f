import type { Reader } from '../kernel/store'
import { takeoverRepository as rows } from './takeovers-repository'
import type { TakeoverRow } from './takeovers-table'

const MAX = 200

/** Which subjects of a kind wait for a person, and what the person is asked to do; null where nothing was said. */
export async function waitingOf(reader: Reader, kind: string): Promise<ReadonlyMap<string, string | null>> {
  const waiting = await rows.waiting(reader, kind, MAX)
  return new Map(waiting.map(({ subject_id, reason }) => [subject_id, reason]))
}

/**
 * Since when each of these subjects has its status, and when it goes back to the AI unless its holder does something;
 * epoch ms. For operators.
 */
export async function stateOf(
  reader: Reader,
  kind: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<TakeoverRow, 'since' | 'until'>>> {
  const found = ids.length ? await rows.find(reader, kind, ids) : []
  return new Map(found.map(({ subject_id, since, until }) => [subject_id, { since, until }]))
}
