import { useEffect, useRef, useState } from 'react'
import type { Completion } from '../../../../../completions/schema'
import { Failure, useCalls } from '../../shell/api'
import { type Body, bodyOf, type Settings, type Turn } from './samples'

type Tool = Completion['tools_used'][number] | { name: string; status: 'running'; description?: string }

/** A prompt with its answer, as far as it has come. */
export type Exchange = {
  id: number
  body: Body
  text: string
  tools: Tool[]
  state: 'runs' | 'done' | 'stopped' | 'failed'
  problem: Failure | null
  meta: Pick<Completion, 'resolved_mode' | 'model' | 'request_id' | 'routing'> | null
  done: Pick<Completion, 'usage' | 'follow_ups' | 'artifacts' | '_cached' | 'warnings'> | null
  firstMs: number | null
  totalMs: number | null
}

const emptyOf = (id: number, body: Body): Exchange => ({
  id,
  body,
  text: '',
  tools: [],
  state: 'runs',
  problem: null,
  meta: null,
  done: null,
  firstMs: null,
  totalMs: null,
})

const turnsOf = (exchanges: readonly Exchange[]): Turn[] =>
  exchanges
    .filter(({ text }) => text)
    .flatMap(({ body, text }) => [
      { role: 'user' as const, content: body.prompt },
      { role: 'assistant' as const, content: text },
    ])

let last = 0

/** One conversation with one engine: what was said, and what sends, stops and repeats. */
export function useColumn(settings: Settings) {
  const calls = useCalls()
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([])
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const change = (id: number, to: (now: Exchange) => Partial<Exchange>) =>
    setExchanges((all) => all.map((it) => (it.id === id ? { ...it, ...to(it) } : it)))

  async function run(prompt: string, before: readonly Exchange[]): Promise<void> {
    running.current?.abort()
    const stop = new AbortController()
    running.current = stop
    const id = ++last
    const body = bodyOf(settings, turnsOf(before), prompt)
    setExchanges([...before, emptyOf(id, body)])
    const startedAt = performance.now()
    const since = () => performance.now() - startedAt
    try {
      await calls.events('POST', '/completions', { body, signal: stop.signal }, ({ name, data }) => {
        const event = data as never
        if (name === 'meta') change(id, () => ({ meta: event }))
        else if (name === 'token') {
          const { token } = event as { token: string }
          change(id, (now) => ({ text: now.text + token, firstMs: now.firstMs ?? since() }))
        } else if (name === 'tool') change(id, ({ tools }) => ({ tools: withTool(tools, event) }))
        else if (name === 'done') {
          const { content } = event as { content: string }
          change(id, () => ({ done: event, text: content, state: 'done', totalMs: since() }))
        } else if (name === 'error') {
          const { code, message } = (event as { error: { code: string; message: string } }).error
          throw new Failure(503, code, message)
        }
      })
      // A stream that ends without its last event was cut.
      change(id, ({ state }) =>
        state === 'runs'
          ? { state: 'failed', problem: new Failure(0, 'cut', 'The answer broke off. What came is kept.') }
          : {},
      )
    } catch (error) {
      if (stop.signal.aborted) change(id, () => ({ state: 'stopped', totalMs: since() }))
      else {
        const problem = error instanceof Failure ? error : new Failure(0, 'broken', String(error))
        change(id, () => ({ state: 'failed', problem }))
      }
    }
  }

  return {
    exchanges,
    isRunning: exchanges.at(-1)?.state === 'runs',
    turns: turnsOf(exchanges),
    send: (prompt: string) => void run(prompt, exchanges),
    /** Asks again, and continues from there. */
    retry: (id: number, prompt?: string) => {
      const at = exchanges.findIndex((it) => it.id === id)
      if (at >= 0) void run(prompt ?? exchanges[at]!.body.prompt, exchanges.slice(0, at))
    },
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort()
      setExchanges([])
    },
  }
}
export type Column = ReturnType<typeof useColumn>

/** A tool is named when it begins and again when it ends. */
function withTool(tools: readonly Tool[], tool: Tool): Tool[] {
  const at = tools.findLastIndex(({ name, status }) => name === tool.name && status === 'running')
  return at < 0 ? [...tools, tool] : tools.with(at, tool)
}
