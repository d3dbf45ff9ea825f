import type { ApiKey } from '../src/accounts/keys/schema'
import type { OpsClient } from '../src/app/client'
import { counted, isBlank } from '../src/kernel/text'
import { apiOf, type onceHeaders, type SharedRoutes } from './command'
import { expectData, notFoundFailure, type Reply, usageFailure } from './failure'
import { everyEntry, type PageQuery } from './pages'
import type { Shell } from './shell'
import { type Arg, argument, type Flag, text, type Words } from './words'

type Route = {
  /** The routes that both APIs have. */
  routes(api: SharedRoutes): unknown
  /** The member of an answer that holds the list. */
  list: string
  /** The member of an answer that holds one item. Without it, the answer itself is the item. */
  item?: string
  /** Query parameters for requesting one item. */
  query?: object
}
const RESOURCES = {
  'guardrail-policies': { routes: (api: SharedRoutes) => api['guardrail-policies'], list: 'guardrail_policies' },
  'routing-preferences': { routes: (api: SharedRoutes) => api['routing-preferences'], list: 'routing_preferences' },
  canvases: { routes: (api: SharedRoutes) => api.evi.canvases, list: 'canvases', item: 'canvas' },
  workflows: { routes: (api: SharedRoutes) => api.workflows, list: 'workflows', item: 'workflow' },
  hooks: { routes: (api: SharedRoutes) => api.hooks, list: 'hooks', item: 'hook', query: { limit: 1 } },
  webhooks: { routes: (api: SharedRoutes) => api.webhooks, list: 'webhooks' },
  views: { routes: (api: SharedRoutes) => api.views, list: 'views' },
  tests: { routes: (api: SharedRoutes) => api['test-cases'], list: 'test_cases' },
  widgets: { routes: (api: SharedRoutes) => api.iframes, list: 'configs' },
} satisfies Record<string, Route>

export type Path = keyof typeof RESOURCES
type RoutesAt<P extends Path> = ReturnType<(typeof RESOURCES)[P]['routes']>

type Data<Call> = Call extends (...requests: never[]) => Promise<infer Reply>
  ? NonNullable<(Reply & { data: unknown })['data']>
  : never
type Answer<P extends Path> = Data<RoutesAt<P>['post']>
type Item<P extends Path> =
  Answer<P> extends { canvas: infer One } ? One : Answer<P> extends { workflow: infer One } ? One : Answer<P>
type Input<P extends Path> = Parameters<RoutesAt<P>['post']>[0]
type Patch<P extends Path> = Parameters<ReturnType<RoutesAt<P>>['patch']>[0]

type Page<Item> = { items: Item[]; next: string | null }
type Listing = { limit: number; scope?: 'personal' | 'team'; cursor?: string }
export type Resource<Item, New, Patch> = {
  list(query: Listing): Promise<Page<Item>>
  get(id: string): Promise<Item>
  create(input: New, headers: ReturnType<typeof onceHeaders>): Promise<Item>
  update(id: string, patch: Patch): Promise<Item>
  remove(id: string): Promise<{ deleted: true }>
}
export type ResourceAt<P extends Path> = Resource<Item<P>, Input<P>, Patch<P>>

/** A resource's routes, as far as they are the same for every resource. */
type Routes<P extends Path> = {
  get(request: { query: object }): Promise<Reply<Record<string, Item<P>[]> & { next_cursor: string | null }>>
  post(input: Input<P>, request: { query: object; headers: object }): Promise<Reply<Answer<P>>>
} & ((one: { id: string }) => {
  get(request?: { query: object }): Promise<Reply<Answer<P>>>
  patch(patch: Patch<P>): Promise<Reply<Answer<P>>>
  delete(): Promise<Reply<{ deleted: true }>>
})

/** A resource over either API: operators manage every owner's, tenants their own (docs/operating.md 2.10). */
export async function resourceOver<P extends Path>(
  shell: Shell,
  path: P,
  about: { own?: boolean } = {},
): Promise<ResourceAt<P>> {
  const { api, ownerFilter } = await apiOf(shell, about)
  const { routes, list, item, query: oneQuery }: Route = RESOURCES[path]
  const all = routes(api) as Routes<P>
  const one = (id: string) => all({ id })
  const itemOf = (reply: Reply<Answer<P>>) => {
    const answer = expectData(reply) as Record<string, unknown>
    return ((item && answer[item]) ?? answer) as Item<P>
  }
  return {
    async list(query) {
      const found = expectData(await all.get({ query: { ...query, ...ownerFilter } }))
      return { items: found[list] as Item<P>[], next: found.next_cursor }
    },
    get: async (id) => itemOf(await (oneQuery ? one(id).get({ query: oneQuery }) : one(id).get())),
    create: async (input, headers) => itemOf(await all.post(input, { query: ownerFilter, headers })),
    update: async (id, patch) => itemOf(await one(id).patch(patch)),
    remove: async (id) => expectData(await one(id).delete()),
  }
}

type Named = { id: string; name?: string | null }
type Lists<Item> = { list(query: Listing): Promise<Page<Item>> }

const SHORTEST = 6
const WHOLE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** All items, read page by page. */
export const everyOf = <Item>({ list }: Lists<Item>): Promise<Item[]> => everyEntry(list)

/**
 * The id for a word. `what` names its kind in the error.
 * @throws CommandFailed 2 for a blank word, which would request the whole list; 3 if nothing matches
 */
export async function resolveRuleSet<Item extends Named>(
  lists: Lists<Item>,
  word: string,
  what: string,
): Promise<string> {
  if (isBlank(word)) throw usageFailure('The id or name is blank.', 'the list command shows ids and names')
  if (WHOLE_ID.test(word)) return word
  return pickNamed(await everyOf(lists), word, what).id
}

/**
 * Turns the start of an id, or a name, into the whole id (docs/operating.md 2.1). A word without a match stays as it is,
 * so that the server's own 404 is shown.
 */
export const idAmong =
  (list: (shell: Shell, input: Words) => Promise<readonly Named[]>, whole = WHOLE_ID) =>
  async (shell: Shell, word: string, input: Words): Promise<string> => {
    if (isBlank(word) || whole.test(word)) return word
    const found = namedBy(await list(shell, input), word)
    if (found.length > 1) throw ambiguous(word, found, 'of them')
    return found[0]?.id ?? word
  }

/** The argument for one row of a list, by its id or the start of it. */
export const rowArgument = (what: string, list: Parameters<typeof idAmong>[0], whole?: RegExp) => ({
  ...argument(`id of the ${what}, or the start of it`),
  idFor: idAmong(list, whole),
})

type Rows = { items: { id: string }[]; next: string | null }

/** The same for a list of the operators' API. */
export const operatedArgument = (
  what: string,
  whole: RegExp | undefined,
  page: (ops: OpsClient, query: PageQuery) => Promise<Rows>,
) =>
  rowArgument(
    what,
    async (shell) => {
      const ops = (await shell.connect()).ops()
      return everyEntry((query) => page(ops, query))
    },
    whole,
  )

const idAt = (path: Path) => idAmong(async (shell) => everyOf((await resourceOver(shell, path)) as Lists<Named>))

/** The argument for one item of a resource. */
export const itemArgument = (path: Path, what: string): Arg<string> => ({
  ...argument(`id of the ${what}, the start of it, or its name`),
  idFor: idAt(path),
})

/** The flag for one item of a resource. */
export const itemFlag = (path: Path, about: string): Flag<string | undefined> => ({
  ...text('ID', about),
  idFor: idAt(path),
})

const namedBy = <Item extends Named>(all: readonly Item[], word: string): Item[] =>
  all.filter(
    ({ id, name }) => name === word || (word.length >= SHORTEST && id.toLowerCase().startsWith(word.toLowerCase())),
  )

/** Prints the server's warnings on stderr. */
export function noteWarnings(shell: Shell, made: object): undefined {
  const { warnings = [] } = made as { warnings?: readonly string[] }
  for (const warning of warnings) shell.note(`Warning: ${warning}`)
}

/**
 * Finds an item by whole id, by a start of at least six characters, or by name (docs/operating.md 2.1). @throws
 * CommandFailed 2 for several matches, 3 for none
 */
export function pickNamed<Item extends Named>(all: readonly Item[], word: string, what: string): Item {
  const [one, ...others] = namedBy(all, word)
  if (!one) throw notFoundFailure(`No ${what} has the id or name "${word}".`, 'the list command shows ids and names')
  if (!others.length) return one
  throw ambiguous(word, [one, ...others], 'of them')
}

function ambiguous(word: string, found: readonly Named[], what: string) {
  const shown = found.slice(0, 10).map(({ id, name }) => `${id}  ${name ?? ''}`.trimEnd())
  return usageFailure(
    `"${word}" could be ${found.length} ${what}:\n${shown.join('\n')}`,
    'write more characters of the id',
  )
}

/**
 * The id for a word: a whole id, a unique start of at least 6 characters, the key's prefix, or its name
 * (docs/operating.md 2.1). If several keys match, lists them and exits 2. A word without a match is sent unchanged, so
 * that the server's own 404 is shown.
 */
export async function resolveKey(api: SharedRoutes, word: string): Promise<string> {
  if (WHOLE_ID.test(word)) return word
  const matches = (await everyKey(api)).filter(
    (key) =>
      key.name === word || key.prefix === word || (word.length >= SHORTEST && key.id.startsWith(word.toLowerCase())),
  )
  const live = matches.filter(({ status }) => status !== 'revoked')
  const found = live.length ? live : matches
  if (found.length > 1) throw ambiguous(word, found, 'keys')
  return found[0]?.id ?? word
}

/** The flag for one API key. */
export const keyFlag = (about: string): Flag<string | undefined> => ({
  ...text('KEY', about),
  idFor: async (shell, word) => resolveKey((await apiOf(shell)).api, word),
})

/** The key for a word. @throws CommandFailed 2 for several matches, 3 for none */
export async function findKey(api: SharedRoutes, word: string): Promise<ApiKey> {
  return expectData(await api.keys({ ref: await resolveKey(api, word) }).get())
}

type Narrowed = { live?: true; org?: string; user?: string }

/** All keys that the credential in use may see. Only operators can filter them. */
export const everyKey = ({ keys }: SharedRoutes, narrowed: Narrowed = {}): Promise<ApiKey[]> =>
  everyEntry(async (input) => {
    const page = expectData(await keys.get({ query: { ...narrowed, ...input } }))
    return { items: page.keys, next: page.has_more ? page.next_cursor : null }
  })

/** Names of the working keys that use a rule set, as far as the caller can see them. */
export async function keysHolding(shell: Shell, holds: (key: ApiKey) => boolean): Promise<string[]> {
  const all = await everyKey((await apiOf(shell)).api, { live: true })
  return all.filter((key) => key.status !== 'revoked' && holds(key)).map(({ name, prefix }) => `${name} (${prefix})`)
}

const MAX_NAMED = 10

/** `bound to 2 keys: ci (svc_sk_live_a), web (svc_sk_live_b)` */
export function boundTo(count: number, names: readonly string[]): string {
  const bound = `bound to ${counted(count, 'key')}`
  const shown = names.slice(0, MAX_NAMED).join(', ')
  return names.length ? `${bound}: ${shown}${names.length > MAX_NAMED ? ', …' : ''}` : bound
}
