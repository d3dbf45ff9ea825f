import { useEffect, useRef, useState } from 'react'
import { readEvents } from '../../../shared/http'
import { Failure, noteChange, useCalls } from '../../shell/api'
import { type Answer, NOTHING, readEvent } from './answer'
import { type Api, type Body, bodyOf, type Call, PATHS, type Sent, type Settings, type Turn } from './apis'

/** A sent prompt with its answer, complete or in progress. */
export type Exchange = Answer & {
  id: number
  sent: Sent
  api: Api
  model: string
  /** True if a JSON answer was requested. */
  isJson: boolean
  body: Body
  state: 'runs' | 'done' | 'stopped' | 'failed'
  problem: Failure | null
  requestId: string | null
  firstMs: number | null
  totalMs: number | null
}

const turnsOf = (exchanges: readonly Exchange[]): Turn[] =>
  exchanges.flatMap(({ sent, text, calls }) => [
    sent,
    ...(text || calls.length ? [{ role: 'assistant' as const, text, calls }] : []),
  ])

let last = 0

/** One conversation with one engine: its exchanges, and functions to send, stop and repeat. `key`: acting key. */
export function useColumn(settings: Settings, key: string) {
  const calls = useCalls()
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([])
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const change = (id: number, to: (now: Exchange) => Partial<Exchange>) =>
    setExchanges((all) => all.map((it) => (it.id === id ? { ...it, ...to(it) } : it)))

  async function run(sent: Sent, before: readonly Exchange[]): Promise<void> {
    running.current?.abort()
    const stop = new AbortController()
    running.current = stop
    const id = ++last
    const { api, model, format } = settings
    const body = bodyOf(settings, [...turnsOf(before), sent])
    const begun: Exchange = {
      ...NOTHING,
      ...{ id, sent, api, model, body, isJson: format !== 'text', state: 'runs' },
      ...{ problem: null, requestId: null, firstMs: null, totalMs: null },
    }
    setExchanges([...before, begun])
    const startedAt = performance.now()
    const since = () => performance.now() - startedAt
    // Kept outside the rendered state, because each event builds on the previous one, rendered or not.
    let now: Answer = NOTHING
    try {
      const headers: Record<string, string> = key ? { 'x-svc-as-key': key } : {}
      const answer = await calls.open('POST', PATHS[api], { body, signal: stop.signal, headers })
      change(id, () => ({ requestId: answer.headers.get('x-request-id') }))
      await readEvents(answer, ({ name, data }) => {
        const more = readEvent(api, now, name, data)
        now = { ...now, ...more }
        const firstMs = now.text || now.calls.length ? since() : null
        change(id, (shown) => ({ ...more, firstMs: shown.firstMs ?? firstMs }))
      })
      // A stream without its last event was interrupted.
      const cut = new Failure(0, 'cut', 'The answer was interrupted. What arrived is kept.')
      change(id, () => (now.isFinished ? { state: 'done', totalMs: since() } : { state: 'failed', problem: cut }))
    } catch (error) {
      if (stop.signal.aborted) change(id, () => ({ state: 'stopped', totalMs: since() }))
      else {
        const problem = error instanceof Failure ? error : new Failure(0, 'broken', String(error))
        change(id, () => ({ state: 'failed', problem }))
      }
    } finally {
      noteChange()
    }
  }

  const placeOf = (id: number) => exchanges.findIndex((it) => it.id === id)
  const before = (id: number) => exchanges.slice(0, placeOf(id))
  return {
    exchanges,
    isRunning: exchanges.at(-1)?.state === 'runs',
    turns: turnsOf(exchanges),
    /** The turns before an exchange. */
    before: (id: number) => turnsOf(before(id)),
    send: (sent: Sent) => void run(sent, exchanges),
    /** Repeats an exchange, with a new text if given, and continues from there. */
    retry: (id: number, text?: string) => {
      const { sent } = exchanges[placeOf(id)]!
      void run(text === undefined || sent.role === 'tool' ? sent : { ...sent, text }, before(id))
    },
    /** Sends the results for the calls of the last answer. */
    resolve: (results: readonly (Call & { result: string })[]) => void run({ role: 'tool', results }, exchanges),
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort()
      setExchanges([])
    },
  }
}
export type Column = ReturnType<typeof useColumn>
