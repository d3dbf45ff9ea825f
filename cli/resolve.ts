import type { ApiKey } from '../src/keys/schema'
import { usageFailure } from './failure'
import type { KeyPlane } from './keys-plane'

const SHORTEST = 6
const PAGE = 100
const WHOLE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * The id that a word means: a whole id, a unique start of at least 6 characters, the key's prefix, or its name (dx 2.1).
 * When several keys match, lists them and exits 2; a word without a match is sent as it is, so that the server's own
 * 404 is shown.
 */
export async function resolveKey(keys: KeyPlane, word: string): Promise<string> {
  if (WHOLE_ID.test(word)) return word
  const all = await everyKey(keys)
  const matches = all.filter((key) => answersTo(key, word))
  const live = matches.filter(({ status }) => status !== 'revoked')
  const found = live.length ? live : matches
  if (found.length > 1) throw ambiguous(word, found)
  return found[0]?.id ?? word
}

const answersTo = ({ id, name, prefix }: ApiKey, word: string): boolean =>
  name === word || prefix === word || (word.length >= SHORTEST && id.startsWith(word.toLowerCase()))

async function everyKey(keys: KeyPlane): Promise<ApiKey[]> {
  const all: ApiKey[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await keys.list({ limit: PAGE, ...(cursor ? { cursor } : {}) })
    all.push(...page.keys)
    cursor = page.has_more ? page.next_cursor : null
  }
  return all
}

function ambiguous(word: string, found: readonly ApiKey[]) {
  const shown = found.slice(0, 10).map(({ id, name }) => `${id}  ${name}`)
  return usageFailure(`"${word}" could be ${found.length} keys:\n${shown.join('\n')}`, 'write more of the id')
}
