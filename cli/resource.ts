import type { OpsClient } from '../src/app/client'
import { expectData } from './failure'
import type { Shell } from './shell'

/** The routes that both APIs have. Those of operators also take an owner, who is `--org`. */
type Shared = Pick<OpsClient, 'guardrails' | 'guardrail-policies' | 'routing-preferences' | 'routing-corrections'>
/** The resources that both APIs have, by path. */
export type Path = 'guardrail-policies' | 'routing-preferences'

type Data<Call> = Call extends (...asked: never[]) => Promise<infer Reply>
  ? NonNullable<(Reply & { data: unknown })['data']>
  : never
type Item<P extends Path> = Data<Shared[P]['post']>
type Order<P extends Path> = Parameters<Shared[P]['post']>[0]
type Patch<P extends Path> = Parameters<ReturnType<Shared[P]>['patch']>[0]

export type Page<Item> = { items: Item[]; next: string | null }
export type Listing = { limit: number; scope?: 'personal' | 'team'; cursor?: string }
export type Resource<Item, New, Patch> = {
  list(query: Listing): Promise<Page<Item>>
  get(id: string): Promise<Item>
  create(order: New, idempotencyKey: string): Promise<Item>
  update(id: string, patch: Patch): Promise<Item>
  remove(id: string): Promise<{ deleted: true }>
}
export type ResourceAt<P extends Path> = Resource<Item<P>, Order<P>, Patch<P>>

/** `own` asks for those of the key in use, also on the server's machine. */
type Whose = { own?: boolean }

/** The API of the credential in use, and the owner to send along. */
export async function sharedApi(shell: Shell, { own = false }: Whose = {}) {
  const connection = await shell.connect()
  const { org } = shell.globals
  if (!own && connection.plane === 'operator') {
    return { api: connection.ops() as Shared, whose: org === undefined ? {} : { owner: org } }
  }
  const { client } = await connection.tenant()
  return { api: client as unknown as Shared, whose: {} }
}

type Reply<Data> = Parameters<typeof expectData<Data>>[0]
/** A resource's routes, as far as they are the same for each. */
type Routes<P extends Path> = {
  get(asked: { query: object }): Promise<Reply<Record<string, Item<P>[]> & { next_cursor: string | null }>>
  post(order: Order<P>, asked: { query: object; headers: object }): Promise<Reply<Item<P>>>
} & ((one: { id: string }) => {
  get(): Promise<Reply<Item<P>>>
  patch(patch: Patch<P>): Promise<Reply<Item<P>>>
  delete(): Promise<Reply<{ deleted: true }>>
})

/** A resource over either API: operators manage every owner's, tenants their own (dx 2.10). */
export async function resourceOver<P extends Path>(shell: Shell, path: P, about: Whose = {}): Promise<ResourceAt<P>> {
  const { api, whose } = await sharedApi(shell, about)
  const all = api[path] as unknown as Routes<P>
  const one = (id: string) => all({ id: encodeURIComponent(id) })
  return {
    async list(query) {
      const found = expectData(await all.get({ query: { ...query, ...whose } }))
      return { items: found[path.replaceAll('-', '_')]!, next: found.next_cursor }
    },
    get: async (id) => expectData(await one(id).get()),
    create: async (order, key) =>
      expectData(await all.post(order, { query: whose, headers: { 'idempotency-key': key } })),
    update: async (id, patch) => expectData(await one(id).patch(patch)),
    remove: async (id) => expectData(await one(id).delete()),
  }
}
