import { Elysia } from 'elysia'
import type { Guard } from '../http/guard'

export type OpenApiSource = { get(): Record<string, unknown> }

/** The OpenAPI document twice: with a key by the letter of the spec, without one for tools that import it. */
export const documentRoutes = (document: OpenApiSource, guard: Guard) =>
  new Elysia()
    .use(guard)
    .get('/api/v1/openapi.json', () => published(document), {
      signedIn: true,
      detail: { summary: 'This document', tags: ['Document'], hide: true } as object,
    })
    .get('/openapi.json', () => published(document), { open: true, detail: { hide: true } as object })

/** A Response, so that the edge does not add `request_id` to a document that is not a resource. */
const published = (document: OpenApiSource) => Response.json(document.get())
