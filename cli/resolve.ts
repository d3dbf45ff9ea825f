import type { ApiKey } from '../src/accounts/keys/schema'
import type { SharedRoutes } from './api'
import { expectData, usageFailure } from './failure'
import { eachEntry } from './pages'

const SHORTEST = 6
const WHOLE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * The id that a word means: a whole id, a unique start of at least 6 characters, the key's prefix, or its name (dx 2.1).
 * When several keys match, lists them and exits 2; a word without a match is sent as it is, so that the server's own
 * 404 is shown.
 */
export async function resolveKey(api: SharedRoutes, word: string): Promise<string> {
  if (WHOLE_ID.test(word)) return word
  const all = await everyKey(api)
  const matches = all.filter(
    (key) =>
      key.name === word || key.prefix === word || (word.length >= SHORTEST && key.id.startsWith(word.toLowerCase())),
  )
  const live = matches.filter(({ status }) => status !== 'revoked')
  const found = live.length ? live : matches
  if (found.length > 1) throw ambiguous(word, found)
  return found[0]?.id ?? word
}

/** The key that a word means. @throws CommandFailed 2 for several, 3 for none */
export async function findKey(api: SharedRoutes, word: string): Promise<ApiKey> {
  const id = await resolveKey(api, word)
  return expectData(await api.keys({ ref: encodeURIComponent(id) }).get())
}

type Narrowed = { live?: true; org?: string; user?: string }

/** All keys that the credential in use may see. Only operators can narrow them. */
export const everyKey = ({ keys }: SharedRoutes, narrowed: Narrowed = {}): Promise<ApiKey[]> =>
  Array.fromAsync(
    eachEntry(async (input) => {
      const page = expectData(await keys.get({ query: { ...narrowed, ...input } }))
      return { items: page.keys, next: page.has_more ? page.next_cursor : null }
    }),
  )

function ambiguous(word: string, found: readonly ApiKey[]) {
  const shown = found.slice(0, 10).map(({ id, name }) => `${id}  ${name}`)
  return usageFailure(
    `"${word}" could be ${found.length} keys:\n${shown.join('\n')}`,
    'write more characters of the id',
  )
}
