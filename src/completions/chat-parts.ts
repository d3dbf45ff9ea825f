import { invalidInput } from '../kernel/errors'
import { isBlank } from '../kernel/text'
import type { ChatMessage } from './chat-schema'
import type { SentImage } from './request'

/** The text of a message; text parts are joined by line breaks, a refusal is text. */
export const textOf = ({ content, refusal }: ChatMessage): string => {
  if (typeof content === 'string') return content
  const texts = (content ?? []).flatMap((part) =>
    part.type === 'text' ? [part.text] : part.type === 'refusal' ? [part.refusal] : [],
  )
  return texts.length ? texts.join('\n') : (refusal ?? '')
}

/** What the assistant thought before this message, as its client sends it back; empty for none. */
export const reasoningOf = ({ content, reasoning_content: reasoning }: ChatMessage): string => {
  if (reasoning || !Array.isArray(content)) return reasoning ?? ''
  return content
    .map((part) => (part.type === 'thinking' ? part.thinking : part.type === 'reasoning' ? (part.text ?? '') : ''))
    .join('')
}

/** The images of a message, which is `messages[place]` in the order and `context[turn]` in the request. */
export const imagesOf = ({ content }: ChatMessage, index: number, turn: number | null): SentImage[] =>
  Array.isArray(content)
    ? content.flatMap((part, at) =>
        part.type === 'image_url'
          ? {
              attachment: { type: 'image_url' as const, url: part.image_url.url },
              path: `messages[${index}].content[${at}].image_url.url`,
              turn,
            }
          : [],
      )
    : []

const hasImages = ({ content }: ChatMessage): boolean =>
  Array.isArray(content) && content.some(({ type }) => type === 'image_url')

/**
 * Throws 400 `validation_error` for a message without content, and for parts that only an assistant has. An assistant's
 * may be empty: such a turn is left out (contract 4).
 */
export function assertContent(messages: readonly ChatMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}].content`
    const { role, content } = message
    if (role === 'assistant') continue
    if (content == null) {
      const what = content === null ? 'null' : 'missing'
      throw invalidInput(path, `"${path}" is ${what}; only an assistant message can be without it.`)
    }
    const foreign = Array.isArray(content) ? content.findIndex(({ type }) => OF_ASSISTANTS.has(type)) : -1
    if (foreign >= 0) {
      const at = `${path}[${foreign}].type`
      throw invalidInput(at, `"${at}" is for assistant messages only. Use text or image_url.`)
    }
  }
}

/** Parts of answers, which clients send back. */
const OF_ASSISTANTS: ReadonlySet<string> = new Set(['refusal', 'thinking', 'reasoning'])

/** An image without text counts as a question, too. */
export const asks = (message: ChatMessage): boolean => !isBlank(textOf(message)) || hasImages(message)

type Spoken = { role: 'user' | 'assistant'; content: string; reasoning?: string }

/** What a user or an assistant said as a turn for an engine; null for a message without content. */
export function spoken(message: ChatMessage): Spoken | null {
  const { role } = message
  if (role !== 'user' && role !== 'assistant') return null
  const content = textOf(message)
  const reasoning = role === 'assistant' ? reasoningOf(message) : ''
  if (!content && !(role === 'user' && hasImages(message))) return null
  return { role, content, ...(reasoning ? { reasoning } : {}) }
}
