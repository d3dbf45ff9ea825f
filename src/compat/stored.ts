import { and, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import type { AuditLog } from '../audit'
import { aboutOf, type CompletionRequest } from '../completions'
import { recurring } from '../jobs'
import { type Call, type OwnerScope, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError, defineError, invalidInput, messageOf, notFound } from '../kernel/errors'
import { listAfter } from '../kernel/keyset'
import { removeOld } from '../kernel/old-rows'
import { allOf, command, query, type Reader, type Store, type Tx } from '../kernel/store'
import { wordOf } from '../kernel/text'
import type { ConversationService } from '../skills'
import type { ConversationId } from '../skills/conversations/schema'
import { completeItem, itemIn, messagesIn, messagesOfAnswer, type Thread } from './conversations'
import { conversationIn } from './responses-input'
import { createOutput, type ResponseOutput } from './responses-output'
import {
  type Item,
  type ItemPage,
  type ItemQuery,
  itemIdOf,
  type ResponseBody,
  ResponseId,
  type ResponseInput,
  responseOfItem,
  USUAL,
} from './responses-schema'
import type { ToolKinds } from './responses-tools'
import { type ResponseRow, responses } from './table'

export type StoredDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  settings: { responsesTtlDays: number }
  conversations: ConversationService
}

const DAY_MS = 86_400_000
const EXPIRY_MS = 60 * 60_000
/** Maximum number of earlier responses that one continues. */
const MAX_CHAIN = 1_000
/** The number of the first item of a request. The items of the answer have smaller numbers. */
const FIRST_INPUT = 36 ** 3

const previousNotFound = defineError(
  'previous_response_not_found',
  (id: string) => `No response ${messageOf(id)} is stored. Send its items in "input", or begin anew.`,
)

const notEnded = defineError(
  'conflict',
  (id: string, status: string) => `The response ${messageOf(id)} is ${status}, so nothing can go on from it.`,
)

const insert = command<ResponseRow>()((tx, p) => tx.insert(tx.of(responses)).values(allOf(tx.of(responses), p)))

const findStored = query<{ id: ResponseId; owner: OwnerScope }>()((db, p) => {
  const t = db.of(responses)
  return db
    .select()
    .from(t)
    .where(and(eq(t.id, p.id), eq(t.owner, p.owner)))
})

/** Rows only hold the members of a response that differ from the default. */
const find = async (reader: Reader, of: { id: ResponseId; owner: OwnerScope }): Promise<ResponseRow[]> =>
  (await findStored(reader, of)).map((row) => ({ ...row, body: { ...USUAL, ...row.body } }))

function unusualOf(body: ResponseBody): ResponseBody {
  const unusual: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body))
    if (value !== (USUAL as Record<string, unknown>)[name]) unusual[name] = value
  return unusual as ResponseBody
}

async function rowOf(reader: Reader, { caller }: Call, id: string): Promise<ResponseRow> {
  const [row] = ResponseId.is(id) ? await find(reader, { id, owner: ownerOf(caller) }) : []
  if (!row) throw notFound('response')
  return row
}

export const findResponse = async (reader: Reader, of: { id: ResponseId; owner: OwnerScope }) =>
  (await find(reader, of))[0]

export const hasEnded = ({ status }: ResponseBody): boolean => status !== 'queued' && status !== 'in_progress'

/** Marks a background response as running. */
export async function beganResponse(tx: Tx, body: ResponseBody): Promise<void> {
  const t = tx.of(responses)
  const begun = { ...body, status: 'in_progress' as const }
  await tx.update(t).set({ body: begun, last_sequence: 1 }).where(eq(t.id, body.id))
}

/** Stores the end of a background response, once. False when it had ended or is gone. */
export async function endResponse(
  tx: Tx,
  body: ResponseBody,
  lastSequence: number,
  conversation: ConversationId | null = null,
): Promise<boolean> {
  const t = tx.of(responses)
  const [row] = await tx.select({ body: t.body }).from(t).where(eq(t.id, body.id))
  if (!row || hasEnded(row.body as ResponseBody)) return false
  const ended = { body: unusualOf(body), last_sequence: lastSequence, conversation_id: conversation }
  await tx.update(t).set(ended).where(eq(t.id, body.id))
  return true
}

type Stored = {
  input: readonly Item[]
  body: ResponseBody
  lastSequence: number
  conversation: ConversationId | null
}

/** Stores a response with the charge for it. `input` holds the items of its own request. */
export async function storeResponse(
  { clock, settings }: StoredDeps,
  tx: Tx,
  { caller }: Call,
  { input, body, lastSequence, conversation }: Stored,
): Promise<void> {
  const now = clock.now()
  // Every item needs an id, because a list of items gives each one's id.
  const items = input.map((item, at) =>
    typeof item.id === 'string' && item.id ? item : { id: itemIdOf('msg', body.id, FIRST_INPUT + at), ...item },
  )
  await insert(tx, {
    id: body.id,
    owner: ownerOf(caller),
    previous_id: body.previous_response_id as ResponseId | null,
    conversation_id: conversation,
    input: items,
    body: unusualOf(body),
    last_sequence: lastSequence,
    created_at: now,
    expires_at: now + settings.responsesTtlDays * DAY_MS,
  })
}

/**
 * The responses that one continues, oldest first. This use extends how long they are stored. Throws 404
 * `previous_response_not_found`, 409 `conflict` unless it is completed or incomplete.
 */
async function chainBefore(
  { store, clock, settings }: StoredDeps,
  { caller }: Call,
  id: string,
): Promise<ResponseRow[]> {
  const owner = ownerOf(caller)
  const chain: ResponseRow[] = []
  for (let next: string | null = id; next !== null && chain.length < MAX_CHAIN; ) {
    const [row]: ResponseRow[] = ResponseId.is(next) ? await find(store.read, { id: next, owner }) : []
    if (!row && chain.length === 0) throw previousNotFound.with({ param: 'previous_response_id' }, id)
    if (!row) break
    chain.unshift(row)
    next = row.previous_id
  }
  const { status } = chain.at(-1)!.body
  if (status !== 'completed' && status !== 'incomplete')
    throw notEnded.with({ param: 'previous_response_id' }, id, status)
  const until = clock.now() + settings.responsesTtlDays * DAY_MS
  const ids = chain.filter(({ expires_at }) => expires_at < until - DAY_MS).map((row) => row.id)
  if (ids.length)
    await store.write(async (tx) => {
      const t = tx.of(responses)
      await tx.update(t).set({ expires_at: until }).where(inArray(t.id, ids))
    })
  return chain
}

const itemsOfChain = (chain: readonly ResponseRow[]): Item[] =>
  chain.flatMap(({ input, body }) => [...input, ...body.output])

type Ending = Parameters<NonNullable<CompletionRequest['alongside']>> extends [Tx, ...infer Rest] ? Rest : never

/** Maximum number of conversation items that a response reads. */
const MAX_ITEMS = 1_000

/** The context of a response: its chain, or the conversation that it names. Throws 404, 409. */
export function threadOf(
  deps: StoredDeps,
  call: Call,
  input: ResponseInput,
  own: readonly Item[],
): Thread | Promise<Thread> {
  const isAlone = input.previous_response_id == null && conversationIn(input) === null
  return isAlone ? { earlier: [], conversation: null, inContext: false, chain: [] } : readThread(deps, call, input, own)
}

async function readThread(deps: StoredDeps, call: Call, input: ResponseInput, own: readonly Item[]): Promise<Thread> {
  if (input.previous_response_id != null) {
    const chain = await chainBefore(deps, call, input.previous_response_id)
    return { earlier: itemsOfChain(chain), conversation: null, inContext: false, chain }
  }
  const conversation = conversationIn(input)!
  const newest = { limit: MAX_ITEMS, order: 'desc' as const }
  const member = input.conversation == null ? 'conversation_id' : 'conversation'
  const rows = await deps.conversations.messagesOf(deps.store.read, ownerOf(call.caller), conversation, newest, member)
  // Turns that only contain text are read as in any conversation.
  const inContext = rows.some(({ item }) => item !== null) || !own.some(({ role }) => role === 'user')
  return { earlier: inContext ? rows.toReversed().map(itemIn) : [], conversation, inContext, chain: [] }
}

/**
 * The conversation that stores a response: the named one, or that of its chain, which begins with the second response.
 * A response that continues an older one than the newest begins another conversation (docs/api.md 29.7).
 */
async function conversationOf(
  { conversations }: StoredDeps,
  tx: Tx,
  owner: OwnerScope,
  { conversation, chain }: Thread,
  fresh: ConversationId,
): Promise<ConversationId | null> {
  const last = chain.at(-1)
  if (!last) return conversation as ConversationId | null
  const t = tx.of(responses)
  const [now] = await tx.select({ known: t.conversation_id }).from(t).where(eq(t.id, last.id))
  const known = now?.known as ConversationId | null | undefined
  if (known) {
    const isLater = or(gt(t.created_at, last.created_at), eq(t.previous_id, last.id))
    const [later] = await tx
      .select({ id: t.id })
      .from(t)
      .where(and(eq(t.conversation_id, known), isLater))
      .limit(1)
    if (!later) return known
  }
  await conversations.begin(tx, owner, fresh, { messages: messagesIn(itemsOfChain(chain)), metadata: null })
  const ids = chain.map(({ id }) => id)
  if (!known)
    await tx
      .update(t)
      .set({ conversation_id: fresh })
      .where(and(inArray(t.id, ids), isNull(t.conversation_id)))
  return fresh
}

/** The error that ended an answer after it began. The caller did not cause it, so it is a service error. */
export const failureOf = (error: unknown) => ({
  code: error instanceof AppError ? error.code : 'server_error',
  message: error instanceof AppError ? error.message : 'The answer was not finished.',
  type: 'api_error',
})

type Kept = {
  owner: OwnerScope
  thread: Thread
  own: readonly Item[]
  output: ResponseOutput
  /** The id for a conversation that the response may begin. Null for a response outside of conversations. */
  fresh: ConversationId | null
}

/** Ends a response in the transaction that charges it, and adds its items to its conversation. */
export async function finishResponse(
  deps: StoredDeps,
  tx: Tx,
  { owner, thread, own, output, fresh }: Kept,
  ...[run, answer, broken]: Ending
) {
  const conversation = fresh && (await conversationOf(deps, tx, owner, thread, fresh))
  if (conversation) run.conversationId = conversation
  const { body } = broken === undefined ? output.end(run, answer) : output.failed(failureOf(broken))
  if (conversation) {
    const about = aboutOf(run, answer, broken !== undefined)
    await deps.conversations.add(tx, owner, conversation, [...messagesIn(own), ...messagesOfAnswer(body.output, about)])
  }
  return { body, lastSequence: output.lastSequence(), conversation }
}

/** Deletes the responses of deleted conversations. */
export async function removeResponsesOf(tx: Tx, conversations: readonly ConversationId[]): Promise<void> {
  const t = tx.of(responses)
  const of = conversations.length ? inArray(t.conversation_id, [...conversations]) : sql`false`
  const found = await tx.select({ id: t.id }).from(t).where(of)
  await removeAll(
    tx,
    found.map(({ id }) => id),
  )
}

const isReference = ({ type, role, id }: Item): boolean =>
  type === 'item_reference' || (type == null && role === undefined && typeof id === 'string')

/** Replaces references to items by the items. Throws 404 for an item that is not stored. */
export function withReferences({ store }: StoredDeps, { caller }: Call, items: Item[]): Item[] | Promise<Item[]> {
  if (!items.some(isReference)) return items
  const owner = ownerOf(caller)
  return Promise.all(
    items.map(async (item): Promise<Item> => {
      if (!isReference(item)) return item
      const row = await findResponse(store.read, { id: responseOfItem(wordOf(item.id)), owner })
      const found = row && [...row.body.output, ...row.input].find(({ id }) => id === item.id)
      if (found) return found
      throw new AppError('not_found', `No item ${messageOf(item.id)} is stored. Send the whole item.`, {
        param: 'input',
      })
    }),
  )
}

/** `GET /responses/{id}`. Throws 404. */
export async function getResponse({ store }: Pick<StoredDeps, 'store'>, call: Call, id: string) {
  const { body, last_sequence } = await rowOf(store.read, call, id)
  return { body: { ...body, request_id: call.requestId }, lastSequence: last_sequence }
}

/** `DELETE /responses/{id}`. Throws 404. */
export function deleteResponse({ store, audit }: StoredDeps, call: Call, id: string) {
  return store.write(async (tx) => {
    const row = await rowOf(tx, call, id)
    await removeAll(tx, [row.id])
    await audit.record(tx, call, {
      action: 'response.deleted',
      entityType: 'response',
      entityId: row.id,
      scope: row.owner,
    })
    return { id: row.id, object: 'response' as const, deleted: true as const }
  })
}

/** `GET /responses/{id}/input_items`. Throws 404. */
export async function listInputItems(
  { store }: StoredDeps,
  call: Call,
  id: string,
  { limit, order, after }: ItemQuery,
): Promise<ItemPage> {
  const { input } = await rowOf(store.read, call, id)
  const all = order === 'asc' ? input : input.toReversed()
  const from = after === undefined ? 0 : all.findIndex((item) => item.id === after) + 1
  if (after !== undefined && from === 0) throw invalidInput('after', '"after" is not the id of an entry of this list.')
  const data = all.slice(from, from + limit).map(completeItem)
  return listAfter(data as (Item & { id: string })[], all.length > from + limit)
}

/** Job that deletes expired responses. */
export const expiredResponses = ({ store, clock }: Pick<StoredDeps, 'store' | 'clock'>) =>
  recurring('responses.expiry', EXPIRY_MS, (signal) =>
    removeOld(store, { table: responses, key: 'id', at: 'expires_at' }, clock.now() + 1, signal),
  )

async function removeAll(tx: Tx, ids: readonly ResponseId[]): Promise<void> {
  if (!ids.length) return
  const t = tx.of(responses)
  await tx.delete(t).where(inArray(t.id, [...ids]))
}

/** The frames of a stored response (docs/api.md 29.7), without those up to the number `after`. */
export const replayResponse = (body: ResponseBody, last: number, after: number, clock: Clock): string =>
  outputOf(body, after, clock).replay(last)

/** The first frames of a running response. */
export const openingOf = (body: ResponseBody, after: number, clock: Clock): string =>
  outputOf(body, after, clock).opening()

function outputOf(body: ResponseBody, after: number, clock: Clock): ResponseOutput {
  const kinds: ToolKinds = new Map(
    body.output.flatMap(({ type, name, namespace }) =>
      type === 'custom_tool_call' || type === 'function_call'
        ? [
            [
              String(name),
              { custom: type === 'custom_tool_call', namespace: typeof namespace === 'string' ? namespace : null },
            ],
          ]
        : [],
    ),
  )
  const input = { ...body, conversation: body.conversation, reasoning: { summary: 'auto' } } as unknown as ResponseInput
  return createOutput({ input, kinds, requestId: body.request_id, clock, stored: { body, after } })
}
