import type { Attachment } from '../completions/schema'
import type { ChatMessage } from './schema'

/** The text of a message; text parts are joined by line breaks. */
export const textOf = ({ content }: ChatMessage): string => {
  if (typeof content === 'string') return content
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

export const imagesOf = ({ content }: ChatMessage): Attachment[] =>
  Array.isArray(content)
    ? content.flatMap((part) =>
        part.type === 'image_url' ? [{ type: 'image_url' as const, url: part.image_url.url }] : [],
      )
    : []
