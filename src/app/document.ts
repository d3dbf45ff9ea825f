import { Elysia } from 'elysia'
import { answer } from '../http/envelope'
import type { Guard } from '../http/guard'
import { JsonObject } from '../kernel/schema'

export type OpenApiSource = { get(): Record<string, unknown> }

/** Serves the OpenAPI document twice: with a key, as the contract says, and without one for tools that import it. */
export const documentRoutes = (document: OpenApiSource, guard: Guard) =>
  new Elysia()
    .use(guard)
    .get('/api/v1/openapi.json', () => published(document), {
      signedIn: true,
      response: { 200: answer(JsonObject) },
      detail: { summary: 'Read this OpenAPI document', tags: ['Document'] },
    })
    .get('/openapi.json', () => published(document), {
      open: true,
      cors: 'anyone',
      detail: { hide: true } as object,
    })

/** A Response, so that the edge does not add `request_id` to a document that is not a resource. */
const published = (document: OpenApiSource) => Response.json(document.get())
