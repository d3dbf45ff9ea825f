import type { TokenTicket } from '../rate-limits'
import type { ResearchId } from './schema'

/** A reservation counts for a minute, so older ones need no end. */
const MOST = 10_000

/** Tokens that researches of this process have reserved until they end (contract 1.6). */
export function createReservations() {
  const tickets = new Map<ResearchId, TokenTicket>()
  return {
    keep(id: ResearchId, ticket: TokenTicket): void {
      const [oldest] = tickets.size >= MOST ? tickets.keys() : []
      if (oldest) tickets.delete(oldest)
      tickets.set(id, ticket)
    },
    end(id: ResearchId): void {
      tickets.get(id)?.correct(0)
      tickets.delete(id)
    },
  }
}
