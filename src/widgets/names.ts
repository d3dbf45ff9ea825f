import type { Caller } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import { clean, storable } from '../kernel/text'

/** What visitors read instead of the name of somebody who has told none. */
const SOMEBODY = 'Support'
const ADDRESS = '@'
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
/** Something besides spaces, invisible characters and what stands for those that were taken out. */
const SHOWS = /[^\s·\p{Cf}]/u
const ID_CHARS = 16

/**
 * How visitors and other operators read who has a chat: the first name that is one, on one line and without what acts on
 * a terminal or turns a line around. E-mail addresses, ids and accounts of machines are none, so they never reach a
 * visitor's page.
 */
export function publicName(...names: readonly (string | null | undefined)[]): string {
  const notices = names.map((name) =>
    clean(storable(name ?? ''))
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return notices.find((name) => SHOWS.test(name) && !name.includes(ADDRESS) && !UUID.test(name)) ?? SOMEBODY
}

/** Who holds a chat. Owners read it, so of the server's own operators it says no more than that they are different. */
export function holderIdOf(caller: Caller): string {
  if (caller.type !== 'operator') return caller.userId
  return `operator:${sha256Hex(caller.name).slice(0, ID_CHARS)}`
}
