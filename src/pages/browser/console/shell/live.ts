import { useEffect, useRef, useSyncExternalStore } from 'react'
import { backoff, type ServerEvent } from '../../shared/http'
import { Failure, noteChange, type Query, signedOut, useCalls, useOwner } from './api'

type How = {
  query?: Query
  off?: boolean
  /** Called when the stream was lost, before it is opened again. */
  lost?(): void
  /** Called when the stream was refused. It is not opened again. */
  refused?(why: Failure): void
}

/**
 * Follows a stream of events of the owner while the screen is shown. Reconnects after a lost connection or a new
 * sign-in; the first event then comes with `isAgain`. Returns a function that reconnects at once.
 */
export function useStream(path: string, take: (event: ServerEvent, isAgain: boolean) => void, how: How): () => void {
  const owner = useOwner()
  const { events } = useCalls()
  const latest = useRef({ events, take, how })
  latest.current = { events, take, how }
  const current = useRef(new AbortController())
  const query = JSON.stringify(how.query ?? {})
  const off = how.off ?? false
  // biome-ignore lint/correctness/useExhaustiveDependencies: another owner is another stream
  useEffect(() => {
    if (off) return
    let isOver = false
    const follow = async () => {
      let isAgain = false
      for (let tries = 0; !isOver; tries++) {
        current.current = new AbortController()
        const { signal } = current.current
        try {
          await latest.current.events(path, { query: JSON.parse(query), signal }, (event) => {
            if (signal.aborted) return
            tries = 0
            latest.current.take(event, isAgain)
            isAgain = false
          })
        } catch (error) {
          const status = error instanceof Failure ? error.status : 0
          if (status >= 400 && status < 500 && status !== 401 && status !== 429)
            return latest.current.how.refused?.(error as Failure)
        }
        isAgain = true
        if (signal.aborted) {
          tries = -1
          continue
        }
        latest.current.how.lost?.()
        do await new Promise((resolve) => setTimeout(resolve, backoff(tries)))
        while (signedOut.get() && !isOver)
      }
    }
    void follow()
    return () => {
      isOver = true
      current.current.abort()
    }
  }, [owner.slug, path, query, off])
  return () => current.current.abort()
}

/** A change of a topic, as sent by `GET /live`. */
export type LiveEvent = { topic: string; seq: number; changed?: unknown[]; skipped?: number; facts?: unknown }

const onVisibility = (changed: () => void) => {
  document.addEventListener('visibilitychange', changed)
  return () => document.removeEventListener('visibilitychange', changed)
}

/**
 * Follows topics of the owner, with filters of each, while the page is visible. Changes while it was hidden or the
 * connection was lost are not reported. Instead each topic is passed once, without `changed`.
 */
export function useLive(topics: string, take: (event: LiveEvent) => void, { query, off }: How = {}): void {
  const hidden = useSyncExternalStore(onVisibility, () => document.hidden)
  const wasHidden = useRef(hidden)
  wasHidden.current ||= hidden
  const news = ({ name, data }: ServerEvent, isAgain: boolean) => {
    noteChange()
    if (name === 'delta') return take(data as LiveEvent)
    if (isAgain || wasHidden.current) for (const topic of topics.split(',')) take({ topic, seq: 0 })
    wasHidden.current = false
  }
  useStream('/live', news, { query: { topics, ...query }, off: off || hidden })
}
