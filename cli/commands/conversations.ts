import { iso } from '../../src/kernel/clock'
import { counted } from '../../src/kernel/text'
import type { Conversation } from '../../src/skills/conversations/schema'
import { columnsOf, commandsOf, defined } from '../command'
import { expectData, usageFailure } from '../failure'
import { deliver } from '../files'
import { formatOf } from '../globals'
import { type JsonObject, safeJson } from '../output/json'
import { eachEntry, everyEntry, type PageQuery, pageIn } from '../pages'
import { rowArgument } from '../resource'
import { requireReason, type Shell } from '../shell'
import { duration, flag, needed, text } from '../words'

type Wanted = { key?: string | undefined; since?: number | undefined }
/** Operators see no titles, tenants see no owner. */
type Listed = { id: string; messageCount: number }

const conversationColumns = columnsOf`
  id, owner OF, title TITLE, messageCount MESSAGES number, createdAt BEGUN time min, updatedAt LAST time`
const messageColumns = columnsOf`createdAt AT time, role WHO, resolvedMode MODE wide, content TEXT`

const filters = {
  key: text('KEY', 'conversations of the organization or person that owns this key; operators only'),
  since: duration('TIME', 'only those with a message in this time'),
}

const args = {
  id: rowArgument('conversation', async (shell) => everyEntry((await conversationsAt(shell, {})).page)),
}
const command = commandsOf('conversations', { apis: ['tenant', 'operator'], columns: conversationColumns, args })

export const conversationCommands = [
  command`list (pages items): List conversations, last updated first
  On the server's machine it lists all conversations without titles, or with --org those of one organization or user. Over --url it lists your own. Conversations belong to a person or an organization, not to a key.
  $ conversations list
  $ conversations list --org acme --since 24h
  $ conversations list --key 31aa07c2`({
    flags: filters,
    find: async (shell, wanted) => ({ at: await conversationsAt(shell, wanted) }),
    answer: ({ page }, { at }) => at.page(page),
    empty: 'No conversations yet.',
  }),
  command`get ID: Show the owner of a conversation and when it was last used
  With --show-content it shows the messages too. When an operator reads them, this is recorded in the audit chain of the owner as conversation.read.
  $ conversations get 31aa07c2
  $ conversations get 31aa07c2 --show-content --reason "ticket 4711"`({
    columns: [...conversationColumns, ...messageColumns.slice(1)],
    flags: { showContent: flag('include the messages; recorded for operators') },
    async run(shell, { id, showContent }) {
      const at = await conversationsAt(shell, {})
      if (!showContent) return shell.print.item(await at.get(id), conversationColumns)
      const conversation = await at.read(id)
      if (formatOf(shell.globals) === 'table')
        return shell.print.list(conversation.messages, messageColumns, 'It is empty.')
      shell.print.item(conversation, conversationColumns)
    },
  }),
  command`items ID (tenant, pages items): List the items of a conversation, newest first
  Items are messages, calls of functions and their results, and thoughts, as GET /conversations/{id}/items has them. For operators, get --show-content shows the messages.
  $ conversations items 31aa07c2
  $ conversations items 31aa07c2 --all --json`({
    columns: columnsOf`
      id ID keep, type TYPE, role WHO, status STATUS wide,
      content TEXT ${(item) => itemText(item) ?? JSON.stringify(item)}`,
    async answer({ client, page: { limit, cursor } }, { id }) {
      const query = defined({ limit, order: 'desc' as const, after: cursor })
      const { data, has_more, last_id } = expectData(await client.conversations({ id }).items.get({ query }))
      return { items: data, next: has_more ? last_id : null }
    },
    empty: 'It has no items.',
  }),
  command`export: Write conversations with their messages as JSON lines
  Writes one conversation per line, last updated first. Operators need --org or --key, and a reason; each read is recorded as conversation.read.
  $ conversations export --out mine.jsonl
  $ conversations export --org acme --since 30d --out acme.jsonl --reason "request of Acme"`({
    flags: { ...filters, out: text('FILE', 'file to write instead of stdout; readable only by you') },
    async run(shell, { key, since, out }) {
      const at = await conversationsAt(shell, { key, since })
      if (at.isOperator) {
        requireReason(shell, 'conversations export')
        if (shell.globals.org === undefined && key === undefined)
          throw usageFailure('conversations export needs an owner.', 'add --org or --key')
      }
      const lines = async function* () {
        for await (const { id } of eachEntry(at.page)) yield Buffer.from(`${safeJson(await at.read(id))}\n`)
      }
      await deliver(shell, lines(), out)
    },
  }),
  command`delete ID (moderate, exits 3): Delete a conversation and its messages
  This cannot be undone. Recorded as conversation.deleted.
  $ conversations delete 31aa07c2
  $ conversations delete 31aa07c2 --yes`({
    columns: columnsOf`deleted DELETED flag`,
    async find(shell, { id }) {
      const at = await conversationsAt(shell, {})
      return { at, messages: (await at.get(id)).messageCount }
    },
    action: ({ id, messages }) => `delete conversation ${id} with ${counted(messages, 'message')}`,
    question: ' It cannot be undone.',
    answer: (_, { at, id }) => at.remove(id),
  }),
  command`purge (operator, severe, exits 3): Delete old conversations of an organization or user, permanently
  Deletes conversations without a message since --before, and their messages. The server never deletes conversations by itself. This cannot be undone; you confirm with the name in --org. Recorded as conversation.purged.
  $ conversations purge --org acme --before 90d --dry-run
  $ conversations purge --org acme --before 90d --confirm acme --reason "retention"`({
    columns: columnsOf`conversations DELETED number`,
    flags: { before: needed(duration('TIME', 'only those without a message for this long'), '--before 90d') },
    async find(shell, { before }) {
      const { org: owner } = shell.globals
      if (!owner) throw usageFailure('conversations purge needs an owner.', '--org acme')
      requireReason(shell, 'conversations purge')
      const input = { owner, before: iso(shell.clock.now() - before) }
      const { purge } = (await shell.connect()).ops().conversations
      const { conversations } = expectData(await purge.post({ ...input, count_only: true }))
      shell.note('Conversations stay until you delete them; no setting deletes them.')
      return {
        input,
        what: `${counted(conversations, 'conversation')} of ${owner} without a message since ${input.before}`,
      }
    },
    action: ({ what }) => `delete ${what}`,
    question: ' It cannot be undone.',
    named: ({ input }) => input.owner,
    request: ({ ops }, { input }) => ops.conversations.purge.post(input),
  }),
]

/** An item as text for people: its text, its call, or the call's result. Undefined for an item without text. */
function itemText({ content, output, name, ...item }: JsonObject): string | undefined {
  if (typeof name === 'string') return `${name}(${item.arguments ?? item.input ?? ''})`
  const whole = content ?? output ?? item.summary
  if (typeof whole === 'string') return whole
  if (!Array.isArray(whole)) return undefined
  return whole.map((part: JsonObject) => String(part.text ?? part.refusal ?? `[${part.type}]`)).join(' ')
}

/** Conversations over either API: operators reach everyone's, tenants their own (docs/operating.md 2.14). */
async function conversationsAt(shell: Shell, { key, since }: Wanted) {
  const connection = await shell.connect()
  const isOperator = connection.api === 'operator'
  if (key !== undefined && !isOperator)
    throw usageFailure('--key is for operators. With an API key you get its own conversations.')
  const { org: owner } = shell.globals
  const filter = { key, since: since === undefined ? undefined : iso(shell.clock.now() - since) }
  const { conversations } = connection.ops()
  const { client } = isOperator ? { client: null } : await connection.tenant()
  return {
    isOperator,
    page: (input: PageQuery): Promise<{ items: Listed[]; next: string | null }> =>
      client
        ? pageIn(client.conversations.get({ query: defined({ ...input, since: filter.since }) }), 'conversations')
        : pageIn(conversations.get({ query: defined({ ...input, owner, ...filter }) }), 'conversations'),
    async get(id: string): Promise<Listed> {
      if (isOperator) return expectData(await conversations({ id }).get()).conversation
      const { messages: _, ...outline } = expectData(await client!.conversations({ id }).get()).conversation
      return outline
    },
    /** Reads a conversation with its messages. */
    read: async (id: string): Promise<Conversation> =>
      expectData(client ? await client.conversations({ id }).get() : await conversations({ id }).messages.get())
        .conversation,
    remove: async (id: string) => expectData(await (client ?? connection.ops()).conversations({ id }).delete()),
  }
}
