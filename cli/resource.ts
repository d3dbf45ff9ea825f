import { apiOf, type SharedRoutes } from './api'
import { expectData } from './failure'
import type { Shell } from './shell'

/** The routes of each resource that both APIs have. */
const RESOURCES = {
  'guardrail-policies': (api: SharedRoutes) => api['guardrail-policies'],
  'routing-preferences': (api: SharedRoutes) => api['routing-preferences'],
  canvases: (api: SharedRoutes) => api.evi.canvases,
  workflows: (api: SharedRoutes) => api.workflows,
}
/** The member that holds one of it in an answer; without one the answer is flat. */
const WRAPPED: Partial<Record<Path, string>> = { canvases: 'canvas', workflows: 'workflow' }

export type Path = keyof typeof RESOURCES
type RoutesAt<P extends Path> = ReturnType<(typeof RESOURCES)[P]>

type Data<Call> = Call extends (...requests: never[]) => Promise<infer Reply>
  ? NonNullable<(Reply & { data: unknown })['data']>
  : never
type Answer<P extends Path> = Data<RoutesAt<P>['post']>
type Item<P extends Path> =
  Answer<P> extends { canvas: infer One } ? One : Answer<P> extends { workflow: infer One } ? One : Answer<P>
type Input<P extends Path> = Parameters<RoutesAt<P>['post']>[0]
type Patch<P extends Path> = Parameters<ReturnType<RoutesAt<P>>['patch']>[0]

export type Page<Item> = { items: Item[]; next: string | null }
export type Listing = { limit: number; scope?: 'personal' | 'team'; cursor?: string }
export type Resource<Item, New, Patch> = {
  list(query: Listing): Promise<Page<Item>>
  get(id: string): Promise<Item>
  create(input: New, idempotencyKey: string): Promise<Item>
  update(id: string, patch: Patch): Promise<Item>
  remove(id: string): Promise<{ deleted: true }>
}
export type ResourceAt<P extends Path> = Resource<Item<P>, Input<P>, Patch<P>>

type Reply<Data> = Parameters<typeof expectData<Data>>[0]
/** A resource's routes, as far as they are the same for each. */
type Routes<P extends Path> = {
  get(request: { query: object }): Promise<Reply<Record<string, Item<P>[]> & { next_cursor: string | null }>>
  post(input: Input<P>, request: { query: object; headers: object }): Promise<Reply<Answer<P>>>
} & ((one: { id: string }) => {
  get(): Promise<Reply<Answer<P>>>
  patch(patch: Patch<P>): Promise<Reply<Answer<P>>>
  delete(): Promise<Reply<{ deleted: true }>>
})

/** A resource over either API: operators manage every owner's, tenants their own (dx 2.10). */
export async function resourceOver<P extends Path>(
  shell: Shell,
  path: P,
  about: { own?: boolean } = {},
): Promise<ResourceAt<P>> {
  const { api, ownerFilter } = await apiOf(shell, about)
  const all = RESOURCES[path](api) as unknown as Routes<P>
  const one = (id: string) => all({ id: encodeURIComponent(id) })
  const member = WRAPPED[path]
  const itemOf = (reply: Reply<Answer<P>>) => {
    const answer = expectData(reply)
    return (member ? (answer as Record<string, unknown>)[member] : answer) as Item<P>
  }
  return {
    async list(query) {
      const found = expectData(await all.get({ query: { ...query, ...ownerFilter } }))
      return { items: found[path.replaceAll('-', '_')]!, next: found.next_cursor }
    },
    get: async (id) => itemOf(await one(id).get()),
    create: async (input, key) =>
      itemOf(await all.post(input, { query: ownerFilter, headers: { 'idempotency-key': key } })),
    update: async (id, patch) => itemOf(await one(id).patch(patch)),
    remove: async (id) => expectData(await one(id).delete()),
  }
}
