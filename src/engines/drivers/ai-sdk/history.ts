import type {
  LanguageModelV4Message,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { ImagePart, Message, Part, ToolCall } from '../../engine'
import { argumentsForHistory } from '../calls'

/**
 * Messages in the format of the vendor packages. The results of one turn share a message, because some vendors
 * refuse them one by one. A system message after other turns is sent as a user message, because not every
 * vendor accepts one there.
 */
export function toPrompt(messages: readonly Message[]): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = []
  for (const message of messages) {
    const last = prompt.at(-1)
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(toResult(message))
    else if (message.role === 'system' && last && last.role !== 'system') prompt.push(asUser(message))
    else prompt.push(toMessage(message))
  }
  return prompt
}

function toMessage(message: Message): LanguageModelV4Message {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', content: [toResult(message)] }
    case 'system':
      return { role: 'system', content: textOf(message) }
    case 'user':
      return { role: 'user', content: partsOf(message).map(partToWire) }
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...partsOf(message)
            .filter((part) => part.type !== 'text' || part.text !== '')
            .map(partToWire),
          ...(message.toolCalls ?? []).map(callToWire),
        ],
      }
  }
}

type Spoken = Exclude<Message, { role: 'tool' }>

const asUser = (message: Spoken): LanguageModelV4Message => ({
  role: 'user',
  content: [{ type: 'text', text: textOf(message) }],
})

const partsOf = ({ content }: Spoken): Part[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

const textOf = (message: Spoken): string =>
  partsOf(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')

const partToWire = (part: Part) =>
  part.type === 'text'
    ? { type: 'text' as const, text: part.text }
    : { type: 'file' as const, mediaType: part.mimeType, data: { type: 'data' as const, data: part.base64 } }

const toResult = (message: Extract<Message, { role: 'tool' }>): LanguageModelV4ToolResultPart => ({
  type: 'tool-result',
  toolCallId: message.toolCallId,
  toolName: message.toolName,
  output: message.images?.length
    ? { type: 'content', value: [{ type: 'text', text: message.content }, ...message.images.map(imageOfResult)] }
    : { type: 'text', value: message.content },
})

const imageOfResult = ({ mimeType, base64 }: ImagePart) => ({
  type: 'file' as const,
  mediaType: mimeType,
  data: { type: 'data' as const, data: base64 },
})

const callToWire = ({ id, name, arguments: args, extra }: ToolCall): LanguageModelV4ToolCallPart => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: name,
  input: argumentsForHistory(args),
  ...(extra ? { providerOptions: extra as SharedV4ProviderOptions } : {}),
})
