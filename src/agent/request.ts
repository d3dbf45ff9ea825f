import { type Message, originOf, type Part, type RunRequest } from '../engines'
import type { Task } from './schema'

/** The first messages to an engine: the system prompt, earlier turns, the question, and any turns after it. */
export function openingMessages({ system, history, prompt, images, after }: Task): Message[] {
  const messages: Message[] = system === null ? [] : [{ role: 'system', content: system }]
  for (const message of history) messages.push(message)
  messages.push({ role: 'user', content: images.length ? withImages(prompt, images) : prompt })
  for (const message of after) messages.push(message)
  return messages
}

/** One call of the engine with these messages. */
export function toRequest(task: Task, messages: Message[]): RunRequest {
  const { call, stealth = false, forVisitors, mode, temperature, maxOutputTokens, json, signal, offered } = task
  return {
    messages,
    mode,
    maxOutputTokens,
    signal,
    origin: { ...originOf(call), stealth },
    ...(temperature === undefined ? {} : { temperature }),
    ...(forVisitors ? { forVisitors } : {}),
    ...(json ? { json } : {}),
    ...(offered ? { tools: offered.tools, toolChoice: offered.choice, oneCallATurn: offered.oneCallATurn } : {}),
  }
}

/**
 * Appends an instruction to the last tool result. It is not a message of its own, because engines differ in
 * which role they accept after a tool message.
 */
export function sayLast(messages: Message[], words: string): void {
  const last = messages.at(-1)
  if (last?.role === 'tool') messages[messages.length - 1] = { ...last, content: `${last.content}\n\n${words}` }
}

/** A blank prompt adds no text part, because engines refuse empty parts. */
const withImages = (prompt: string, images: Task['images']): Part[] => [
  ...images.map(({ mimeType, base64 }): Part => ({ type: 'image', mimeType, base64 })),
  ...(prompt.trim() ? [{ type: 'text' as const, text: prompt }] : []),
]
