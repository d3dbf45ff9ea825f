import type { World } from '../support/world'

export type Route = {
  /** `GET /keys/{id}`. */
  name: string
  method: string
  path: string
  scope: string | null
  isOpen: boolean
  hasBody: boolean
}

type Documented = {
  paths: Record<string, Record<string, { security?: object[]; 'x-required-scope'?: string; requestBody?: object }>>
}

/** Every route, as the published document describes it. */
export async function routesOf(world: World): Promise<Route[]> {
  const { body } = await world.send('GET', '/openapi.json')
  return Object.entries((body as Documented).paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      scope: operation['x-required-scope'] ?? null,
      isOpen: operation.security?.length === 0,
      hasBody: operation.requestBody !== undefined,
    })),
  )
}

/** The path with this id in every place for one. */
export const withId = (path: string, id: string): string => path.slice(1).replace(/\{\w+\}/g, id)
