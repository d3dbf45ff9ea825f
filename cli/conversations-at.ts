import type { Conversation } from '../src/conversations/schema'
import { expectData, usageFailure } from './failure'
import { eachEntry, type PageOrder } from './pages'
import type { Shell } from './shell'

type Wanted = { key?: string | undefined; since?: number | undefined }
/** Operators see no titles, tenants no owner. */
type Listed = { id: string; messageCount: number }
type Page = { items: Listed[]; next: string | null }
type At = {
  isOperator: boolean
  /** Whether an organization or person is named. */
  isOfOne: boolean
  page(order: PageOrder): Promise<Page>
  get(id: string): Promise<Listed>
  /** With its messages. */
  read(id: string): Promise<Conversation>
  remove(id: string): Promise<{ deleted: true }>
}

/** Conversations over either API: operators reach everyone's, tenants their own (dx 2.14). */
export async function conversationsAt(shell: Shell, { key, since }: Wanted) {
  const recent = since === undefined ? {} : { since: new Date(shell.clock.now() - since).toISOString() }
  const { api } = await shell.connect()
  const at = api === 'operator' ? await everyones(shell, recent, key) : await own(shell, recent, key)
  return { ...at, all: () => eachEntry(at.page) }
}

async function everyones(shell: Shell, recent: { since?: string }, key?: string): Promise<At> {
  const connection = await shell.connect()
  const ops = connection.ops()
  const { org: owner } = shell.globals
  const whose = { ...(owner === undefined ? {} : { owner }), ...(key === undefined ? {} : { key }) }
  const one = (id: string) => ops.conversations({ id: encodeURIComponent(id) })
  return {
    isOperator: true,
    isOfOne: owner !== undefined || key !== undefined,
    async page(order) {
      const query = { ...order, ...recent, ...whose }
      const found = expectData(await ops.conversations.get({ query }))
      return { items: found.conversations, next: found.next_cursor }
    },
    get: async (id) => expectData(await one(id).get()).conversation,
    read: async (id) => expectData(await one(id).messages.get()).conversation,
    remove: async (id) => expectData(await one(id).delete()),
  }
}

async function own(shell: Shell, recent: { since?: string }, key?: string): Promise<At> {
  if (key !== undefined) throw usageFailure('--key is for operators. With an API key you get its own conversations.')
  const connection = await shell.connect()
  const { client } = await connection.tenant()
  const one = (id: string) => client.conversations({ id: encodeURIComponent(id) })
  const read = async (id: string) => expectData(await one(id).get()).conversation
  return {
    isOperator: false,
    isOfOne: true,
    async page(order) {
      const found = expectData(await client.conversations.get({ query: { ...order, ...recent } }))
      return { items: found.conversations, next: found.next_cursor }
    },
    async get(id) {
      const { messages: _, ...outline } = await read(id)
      return outline
    },
    read,
    remove: async (id) => expectData(await one(id).delete()),
  }
}
