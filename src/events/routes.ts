import type { Guard } from '../http/guard'
import { tenantRoutes, verb } from '../http/verbs'
import { BusEventPage, BusEventQuery, NewEvent, PublishedEvent } from './schema'
import type { EventService } from './service'

/** `/events` (docs/api.md 11.2), for tenants and operators. */
export const eventVerbs = ({ publish, list }: EventService) =>
  [
    verb.post(
      '/events',
      {
        body: NewEvent,
        reply: PublishedEvent,
        creates: true,
        summary: 'Publish an event',
        description:
          'Hooks, workflows, skills and webhooks that are subscribed to it run in the background. The answer has their number.',
      },
      (call, { body }) => publish(call, body),
    ),
    verb.get(
      '/events',
      {
        holds: ['payload'],
        query: BusEventQuery,
        reply: BusEventPage,
        owned: true,
        summary: 'List events, newest first',
        description: 'Lists published events, and server events that have a subscriber.',
      },
      (call, { query, owner }) => list(call, query, owner),
    ),
  ] as const

export const eventRoutes = (events: EventService, guard: Guard) =>
  tenantRoutes(eventVerbs(events), guard, { scope: 'completions', tag: 'Events' })
