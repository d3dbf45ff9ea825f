import { expect, test } from 'bun:test'
import { createSuccessTable } from '../../src/http/route-rules'

const route = (method: string, path: string, response?: object) => ({
  method,
  path,
  hooks: response ? { response } : {},
})
const statusOf = createSuccessTable([
  route('POST', '/api/v1/keys', { 201: {}, 400: {} }),
  route('PATCH', '/api/v1/keys/:id', { 200: {}, 404: {} }),
  route('POST', '/api/v1/skills', { 200: {}, 201: {} }),
  route('POST', '/api/v1/compile', { 200: {}, 422: {} }),
  route('GET', '/page'),
])

test.each([
  ['POST /keys', 201],
  ['PATCH /keys/:id', 200],
  ['POST /skills', undefined],
  ['POST /compile', 200],
  ['GET /page', undefined],
  ['GET /nowhere', undefined],
] as const)('%s succeeds with %p', (name, status) => {
  expect(statusOf(name)).toBe(status)
})
