import type { ApiKey } from '../src/accounts/keys/schema'
import { isBlank } from '../src/kernel/text'
import { apiOf } from './api'
import { notFoundFailure, usageFailure } from './failure'
import { eachEntry } from './pages'
import { everyKey } from './resolve'
import type { Listing, Page } from './resource'
import type { Shell } from './shell'

type Named = { id: string; name: string }
type Lists<Item> = { list(query: Listing): Promise<Page<Item>> }

const SHORTEST = 6
const WHOLE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** All items, page by page. */
export function everyOf<Item>({ list }: Lists<Item>, scope?: 'personal' | 'team'): Promise<Item[]> {
  return Array.fromAsync(eachEntry((input) => list({ ...input, ...(scope ? { scope } : {}) })))
}

/**
 * The id that a word stands for; `what` names its kind for the refusal.
 * @throws CommandFailed 2 for a blank word, which would ask the server for all of them; 3 for a word that fits none
 */
export async function resolveRuleSet<Item extends Named>(
  lists: Lists<Item>,
  word: string,
  what: string,
): Promise<string> {
  if (isBlank(word)) throw usageFailure('The id or name is blank.', 'the list command shows ids and names')
  if (WHOLE_ID.test(word)) return word
  const found = namedAmong(await everyOf(lists), word)
  if (!found) throw notFoundFailure(`No ${what} has the id or name "${word}".`, 'the list command shows ids and names')
  return found.id
}

/** Says on stderr what the server warns of. */
export function noteWarnings(shell: Shell, made: object): void {
  const { warnings = [] } = made as { warnings?: readonly string[] }
  for (const warning of warnings) shell.note(`Warning: ${warning}`)
}

/** Finds by whole id, by a start of at least six characters, or by name (dx 2.1). @throws CommandFailed 2 for several */
export function namedAmong<Item extends Named>(all: readonly Item[], word: string): Item | undefined {
  const found = all.filter(
    ({ id, name }) => name === word || (word.length >= SHORTEST && id.startsWith(word.toLowerCase())),
  )
  if (found.length <= 1) return found[0]
  const shown = found.slice(0, 10).map(({ id, name }) => `${id}  ${name}`)
  throw usageFailure(
    `"${word}" could be ${found.length} of them:\n${shown.join('\n')}`,
    'write more characters of the id',
  )
}

/** Names of the working keys that use a rule set, as far as the caller can see them. */
export async function keysHolding(shell: Shell, holds: (key: ApiKey) => boolean): Promise<string[]> {
  const all = await everyKey((await apiOf(shell)).api, { live: true })
  return all.filter((key) => key.status !== 'revoked' && holds(key)).map(({ name, prefix }) => `${name} (${prefix})`)
}

const MAX_NAMED = 10

/** `bound to 2 keys: ci (svc_sk_live_a), web (svc_sk_live_b)` */
export function boundTo(count: number, names: readonly string[]): string {
  const text = `bound to ${count} ${count === 1 ? 'key' : 'keys'}`
  const shown = names.slice(0, MAX_NAMED).join(', ')
  return names.length ? `${text}: ${shown}${names.length > MAX_NAMED ? ', …' : ''}` : text
}
