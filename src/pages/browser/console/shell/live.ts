import { useEffect, useRef } from 'react'
import { backoff } from '../../shared/http'
import { Failure, useCalls, useOwner } from './api'

/** A change of a topic, as `GET /live` tells it. */
export type LiveEvent = { topic: string; seq: number; changed?: unknown[]; skipped?: number; facts?: unknown }

/** Follows topics of the owner as long as the screen is there, and again after the connection was lost. */
export function useLive(topics: string, take: (event: LiveEvent) => void): void {
  const owner = useOwner()
  const { events } = useCalls()
  const latest = useRef({ events, take })
  latest.current = { events, take }
  // biome-ignore lint/correctness/useExhaustiveDependencies: another owner is another stream
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const follow = async () => {
      for (let tries = 0; !signal.aborted; tries++) {
        try {
          await latest.current.events('GET', '/live', { query: { topics }, signal }, ({ name, data }) => {
            tries = 0
            if (name === 'delta') latest.current.take(data as LiveEvent)
          })
        } catch (error) {
          if (error instanceof Failure && error.status >= 400 && error.status < 500) return
        }
        if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, backoff(tries)))
      }
    }
    void follow()
    return () => leaving.abort()
  }, [owner.slug, topics])
}
