import type { EngineService, Message, Part, RunRequest } from '../engines'
import type { Clock } from '../kernel/clock'
import { createPairKeeper, storable } from '../kernel/text'
import type { Step, Task, Thought } from './schema'

type Deps = { engines: EngineService; clock: Clock }

export type Agent = ReturnType<typeof createAgent>

/** Think, act, observe. Without tools it is one engine call (contract 22.5). */
export function createAgent({ engines, clock }: Deps) {
  return {
    /** The whole thought at once; cheaper than a stream nobody watches. */
    async answer(task: Task): Promise<Thought> {
      const { text, finish, usage, engineId, free, fallbackUsed } = await engines.answer(task.engineId, toRequest(task))
      const { promptTokens, completionTokens } = usage
      return {
        content: storable(text),
        finish,
        promptTokens,
        completionTokens,
        engineId,
        free,
        fallbackUsed,
        ttftMs: null,
      }
    },

    /** The same, with its text as it comes; the generator's return value is the thought. */
    async *stream(task: Task): AsyncGenerator<Step, Thought> {
      const startedAt = clock.monotonic()
      const running = await engines.run(task.engineId, toRequest(task))
      const ttftMs = Math.round(clock.monotonic() - startedAt)
      const { engineId, free, fallbackUsed } = running
      const pairs = createPairKeeper()
      let content = ''
      let finish: Thought['finish'] = 'stop'
      let usage = running.soFar()
      for await (const part of running.parts) {
        if (part.type === 'finish') finish = part.reason
        if (part.type === 'usage') usage = part
        if (part.type !== 'text-delta') continue
        const text = pairs.add(part.text)
        content += text
        if (text) yield { type: 'text', text }
      }
      const rest = pairs.end()
      if (rest) yield { type: 'text', text: rest }
      content += rest
      const { promptTokens, completionTokens } = usage
      return { content, finish, promptTokens, completionTokens, engineId, free, fallbackUsed, ttftMs }
    },
  }
}

function toRequest({
  mode,
  system,
  history,
  prompt,
  images,
  temperature,
  maxOutputTokens,
  json,
  signal,
}: Task): RunRequest {
  const messages: Message[] = system === null ? [] : [{ role: 'system', content: system }]
  for (const { role, content } of history) messages.push({ role, content })
  messages.push({ role: 'user', content: images.length ? withImages(prompt, images) : prompt })
  return {
    messages,
    mode,
    maxOutputTokens,
    signal,
    ...(temperature === undefined ? {} : { temperature }),
    ...(json ? { json: true as const } : {}),
  }
}

/** Engines refuse a part of no words, so a picture that comes alone goes alone. */
const withImages = (prompt: string, images: Task['images']): Part[] => [
  ...images.map(({ mimeType, base64 }): Part => ({ type: 'image', mimeType, base64 })),
  ...(prompt.trim() ? [{ type: 'text' as const, text: prompt }] : []),
]
