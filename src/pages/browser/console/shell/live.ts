import { useEffect, useRef } from 'react'
import { backoff } from '../../shared/http'
import { Failure, type Query, signedOut, useCalls, useOwner } from './api'

/** A change of a topic, as sent by `GET /live`. */
export type LiveEvent = { topic: string; seq: number; changed?: unknown[]; skipped?: number; facts?: unknown }

/** Filters of a topic, by its name, and a switch to pause. */
type How = { query?: Query; off?: boolean }

/**
 * Follows topics of the owner while the screen is shown. Reconnects after a lost connection or a new sign-in. Changes
 * in between are not reported. Instead each topic is passed once, without `changed`.
 */
export function useLive(topics: string, take: (event: LiveEvent) => void, { query = {}, off = false }: How = {}): void {
  const owner = useOwner()
  const { events } = useCalls()
  const latest = useRef({ events, take })
  latest.current = { events, take }
  const filters = JSON.stringify(query)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another owner is another stream
  useEffect(() => {
    if (off) return
    const leaving = new AbortController()
    const { signal } = leaving
    const follow = async () => {
      let isAgain = false
      for (let tries = 0; !signal.aborted; tries++) {
        try {
          await latest.current.events(
            'GET',
            '/live',
            { query: { topics, ...JSON.parse(filters) }, signal },
            ({ name, data }) => {
              tries = 0
              if (name === 'delta') latest.current.take(data as LiveEvent)
              else if (isAgain) for (const topic of topics.split(',')) latest.current.take({ topic, seq: 0 })
              isAgain = false
            },
          )
        } catch (error) {
          const status = error instanceof Failure ? error.status : 0
          if (status >= 400 && status < 500 && status !== 401 && status !== 429) return
        }
        isAgain = true
        do await new Promise((resolve) => setTimeout(resolve, backoff(tries)))
        while (signedOut.get() && !signal.aborted)
      }
    }
    void follow()
    return () => leaving.abort()
  }, [owner.slug, topics, filters, off])
}
