import type { Call } from '../kernel/caller'
import { listAfter } from '../kernel/keyset'
import { storable, wordOf } from '../kernel/text'
import type { MessageAbout, MessageRow, NewMessage } from '../skills'
import { type FileDeps, filesRead } from './files'
import { assertItems } from './responses-items'
import type { Item } from './responses-schema'
import type { ResponseRow } from './table'

/** The context that a response continues. */
export type Thread = {
  /** Items before the response's own. */
  earlier: readonly Item[]
  /** The conversation that the response names. `inContext`: `earlier` holds its turns already. */
  conversation: string | null
  inContext: boolean
  /** The responses that it continues, oldest first. */
  chain: readonly ResponseRow[]
}

const TEXTS: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'text', 'summary_text', 'reasoning_text'])

/** The readable text of an item. */
function wordsOf({ type, name, content, summary, refusal, output, ...item }: Item): string {
  if (typeof item.arguments === 'string') return `${wordOf(name)}(${item.arguments})`
  if (typeof item.input === 'string') return `${wordOf(name)}(${item.input})`
  const whole = content ?? output ?? summary ?? refusal
  if (typeof whole === 'string') return whole
  return Array.isArray(whole)
    ? whole.flatMap((part: Item) => (TEXTS.has(part?.type) ? wordOf(part.text) : wordOf(part?.refusal))).join('\n')
    : ''
}

/** True if role and text say everything about an item. */
function isPlain({ type, role, content }: Item): boolean {
  const [part, ...more] = (Array.isArray(content) ? content : [{ type: 'text', text: content }]) as Item[]
  const { annotations } = part ?? {}
  const isNoted = Array.isArray(annotations) && annotations.length > 0
  return (type ?? 'message') === 'message' && role !== 'developer' && !more.length && TEXTS.has(part?.type) && !isNoted
}

/** Items as messages of a conversation, with ids of its own. */
export const messagesIn = (items: readonly Item[]): NewMessage[] =>
  items.map((item): NewMessage => {
    const { role } = item
    const isMessage = role === 'user' || role === 'assistant'
    return {
      role: isMessage ? role : role === 'system' || role === 'developer' ? 'system' : 'tool',
      content: storable(wordsOf(item)),
      // Pictures are already stored as files.
      item: isPlain(item) ? null : item.type === 'image_generation_call' ? { ...item, result: null } : item,
    }
  })

/** The items of an answer, with their ids. `about` is stored with the last message. */
export function messagesOfAnswer(items: readonly Item[], about: MessageAbout): NewMessage[] {
  const last = items.findLastIndex(({ role }) => role === 'assistant')
  return messagesIn(items).map((message, at) => ({
    ...message,
    id: items[at]!.id as MessageRow['id'],
    ...(at === last ? { about } : {}),
  }))
}

/** A message of a conversation as an item. */
export const itemIn = ({ id, role, content, item }: MessageRow): Item =>
  completeItem(item ? { ...item, id } : { id, role, content })

/** An item with the members that clients read. A short form is expanded to parts. */
export function completeItem(item: Item): Item {
  const { role, content } = item
  const whole = { status: 'completed', ...item, type: item.type ?? 'message' }
  if (typeof content !== 'string') return whole
  const part =
    role === 'assistant'
      ? { type: 'output_text', text: content, annotations: [], logprobs: [] }
      : { type: 'input_text', text: content }
  return { ...whole, content: [part] }
}

/** A page of messages as items. */
export const pageOf = (rows: readonly MessageRow[], hasMore: boolean) =>
  listAfter(rows.map(itemIn) as (Item & { id: string })[], hasMore)

/** Items for a conversation, with their files replaced by texts. Throws 400, and 404 for a file that cannot be read. */
export async function readItems(deps: FileDeps, call: Call, items: Item[]): Promise<NewMessage[]> {
  const { body } = await filesRead(deps, call, { items }, false)
  assertItems(body.items)
  return messagesIn(body.items)
}
