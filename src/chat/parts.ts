import type { SentImage } from '../completions'
import { invalidInput } from '../kernel/errors'
import { isBlank } from '../kernel/text'
import type { ChatMessage } from './schema'

/** The text of a message; text parts are joined by line breaks. */
export const textOf = ({ content }: ChatMessage): string => {
  if (typeof content === 'string') return content
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
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
 * Throws 400 `validation_error` for a message without content; an assistant's may hold calls or a refusal instead
 * (contract 4), as the answers that clients send back do.
 */
export function assertContent(messages: readonly ChatMessage[]): void {
  for (const [index, message] of messages.entries()) {
    if (message.content != null) continue
    const { role, content, tool_calls: calls, refusal } = message
    if (role === 'assistant' && (calls?.length || refusal)) continue
    const path = `messages[${index}].content`
    const what = content === null ? 'null' : 'missing'
    throw invalidInput(path, `"${path}" is ${what}; only an assistant message with "tool_calls" may leave it out.`)
  }
}

/** An image without text counts as a question, too. */
export const asks = (message: ChatMessage): boolean => !isBlank(textOf(message)) || hasImages(message)

/** What a user or an assistant said as a turn for an engine; null for a message without content. */
export function spoken(message: ChatMessage): { role: 'user' | 'assistant'; content: string } | null {
  const { role } = message
  if (role !== 'user' && role !== 'assistant') return null
  const content = textOf(message)
  return content || (role === 'user' && hasImages(message)) ? { role, content } : null
}
