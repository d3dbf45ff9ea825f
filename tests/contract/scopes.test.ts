// Both databases: every route is asked, and each has statements.
import { describe, expect, test } from 'bun:test'
import { SCOPES, type Scope } from '../../src/kernel/caller'
import { createWorld } from '../support/world'
import { routesOf, withId } from './matrix'

const world = await createWorld()
const routes = await routesOf(world)

/** What each route asks for (contract 1.2); null is any valid key. A new route is added here by hand, on purpose. */
const GOLDEN: Record<string, Scope | null> = {
  'GET /openapi.json': null,
  'DELETE /auth/sessions': null,
  'GET /auth/me': null,
  'POST /auth/password': null,
  'GET /rate-limits': null,
  'POST /rate-limits/request-increase': 'billing',
  'POST /rate-limits/requests/{id}/decision': null,
  'POST /research': 'completions',
  'GET /jobs/{id}/verification': 'completions',
  'POST /workflows': 'completions',
  'GET /workflows': 'completions',
  'GET /workflows/{id}': 'completions',
  'PATCH /workflows/{id}': 'completions',
  'DELETE /workflows/{id}': 'completions',
  'POST /workflows/{id}/run': 'completions',
  'GET /workflows/{id}/runs': 'completions',
  'GET /workflows/{id}/runs/{runId}': 'completions',
  'POST /workflows/{id}/runs/{runId}/approve': 'completions',
  'POST /workflows/{id}/runs/{runId}/reject': 'completions',
  'POST /workflows/{id}/runs/{runId}/cancel': 'completions',
  'POST /keys': 'billing',
  'GET /keys': 'billing',
  'GET /keys/{id}': 'billing',
  'PUT /keys/{id}': 'billing',
  'PATCH /keys/{id}': 'billing',
  'POST /keys/{id}/rotate': 'billing',
  'DELETE /keys/{id}': 'billing',
  'GET /billing/limits': 'billing',
  'PATCH /billing/limits': 'billing',
  'POST /billing/checkout': 'billing',
  'POST /billing/portal': 'billing',
  'GET /usage': null,
  'GET /requests': null,
  'GET /requests/{id}': null,
  'GET /benchmarks': null,
  'GET /usage/export': 'billing',
  'GET /audit': 'billing',
  'GET /audit/export': 'billing',
  'GET /audit/integrity': 'billing',
  'GET /audit/checkpoint': 'billing',
  'GET /orgs': null,
  'POST /orgs': 'billing',
  'GET /orgs/{id}': null,
  'PATCH /orgs/{id}': 'billing',
  'DELETE /orgs/{id}': 'billing',
  'POST /orgs/{id}/activate': 'billing',
  'DELETE /orgs/{id}/activate': 'billing',
  'GET /orgs/{id}/members': null,
  'PATCH /orgs/{id}/members/{userId}': 'billing',
  'DELETE /orgs/{id}/members/{userId}': 'billing',
  'POST /orgs/{id}/invitations': 'billing',
  'POST /invitations/{token}/accept': 'billing',
  'GET /settings': null,
  'PATCH /settings': null,
  'GET /guardrails': 'billing',
  'PUT /keys/{id}/guardrails': 'billing',
  'PUT /keys/{id}/routing-preference': 'billing',
  'PUT /keys/{id}/routing-rules': 'billing',
  'POST /routing-preferences': 'billing',
  'GET /routing-preferences': 'billing',
  'GET /routing-preferences/{id}': 'billing',
  'PATCH /routing-preferences/{id}': 'billing',
  'DELETE /routing-preferences/{id}': 'billing',
  'POST /routing-preferences/suggest-rule': 'billing',
  'POST /routing-preferences/preview': 'billing',
  'POST /routing-corrections': 'billing',
  'GET /routing-corrections': 'billing',
  'POST /moderations': 'completions',
  'POST /guardrail-policies': 'billing',
  'GET /guardrail-policies': 'billing',
  'GET /guardrail-policies/{id}': 'billing',
  'PATCH /guardrail-policies/{id}': 'billing',
  'DELETE /guardrail-policies/{id}': 'billing',
  'POST /guardrail-policies/{id}/evaluate': 'billing',
  'GET /models': 'completions',
  'GET /models/{id}': 'completions',
  'GET /tools': 'tools',
  'GET /tools/signing-secret': 'tools',
  'POST /audio/speech': 'completions',
  'POST /audio/stt': 'completions',
  'POST /audio/transcriptions': 'completions',
  'POST /audio/tts': 'completions',
  'POST /video': 'completions',
  'POST /voice/action': 'completions',
  'POST /browser/sessions': 'connectors',
  'GET /browser/sessions': 'connectors',
  'GET /browser/sessions/{id}': 'connectors',
  'GET /browser/sessions/{id}/live': 'connectors',
  'GET /browser/sessions/{id}/recording': 'connectors',
  'DELETE /browser/sessions/{id}': 'connectors',
  'POST /browser/sessions/{id}/actions': 'connectors',
  'POST /voice/token': 'completions',
  'POST /completions': 'completions',
  'POST /images': 'completions',
  'POST /images/generations': 'completions',
  'POST /chat/completions': 'completions',
  'POST /messages': 'completions',
  'POST /messages/count_tokens': 'completions',
  'POST /responses': 'completions',
  'POST /responses/input_tokens': 'completions',
  'GET /responses/{id}': 'completions',
  'DELETE /responses/{id}': 'completions',
  'POST /responses/{id}/cancel': 'completions',
  'GET /responses/{id}/input_items': 'completions',
  'GET /skills': 'skills',
  'POST /skills': 'skills',
  'DELETE /skills': 'skills',
  'POST /skills/create': 'skills',
  'POST /skills/submit': 'skills',
  'GET /skills/submissions': 'skills',
  'GET /skills/submissions/{id}': 'skills',
  'DELETE /skills/submissions/{id}': 'skills',
  'POST /skills/submissions/{id}/review': null,
  'POST /skills/sandbox': 'skills',
  'GET /skills/earnings': 'skills',
  'GET /skills/{id}': 'skills',
  'PATCH /skills/{id}': 'skills',
  'DELETE /skills/{id}': 'skills',
  'DELETE /skills/{id}/install': 'skills',
  'PATCH /skills/{id}/installation': 'skills',
  'GET /skills/{id}/versions': 'skills',
  'GET /skills/{id}/reviews': 'skills',
  'POST /skills/{id}/reviews': 'skills',
  'GET /evi/canvases': 'skills',
  'POST /evi/canvases': 'skills',
  'GET /evi/canvases/{id}': 'skills',
  'PATCH /evi/canvases/{id}': 'skills',
  'DELETE /evi/canvases/{id}': 'skills',
  'POST /evi/canvases/{id}/compile': 'skills',
  'POST /evi/canvases/{id}/test': 'skills',
  'POST /evi/canvases/{id}/publish': 'skills',
  'GET /evi/canvases/{id}/workflow': 'skills',
  'POST /evi/canvases/{id}/workflow': 'skills',
  'GET /evi/canvases/{id}/runs': 'skills',
  'GET /evi/canvases/{id}/runs/{runId}': 'skills',
  'GET /evi/canvases/{id}/versions': 'skills',
  'POST /evi/canvases/{id}/versions/{versionId}/restore': 'skills',
  'GET /conversations': 'completions',
  'GET /conversations/{id}': 'completions',
  'PATCH /conversations/{id}': 'completions',
  'DELETE /conversations/{id}': 'completions',
  'GET /jobs': 'completions',
  'GET /jobs/{id}': 'completions',
  'POST /jobs/{id}/cancel': 'completions',
  'POST /code': 'completions',
  'POST /documents': 'completions',
  'GET /documents/{id}': 'completions',
  'GET /artifacts': 'completions',
  'GET /artifacts/{id}': 'completions',
  'DELETE /artifacts/{id}': 'completions',
  'GET /memory': 'completions',
  'POST /memory': 'completions',
  'DELETE /memory/{id}': 'completions',
  'POST /events': 'completions',
  'GET /events': 'completions',
  'GET /channels': 'connectors',
  'POST /hooks': 'completions',
  'GET /hooks': 'completions',
  'GET /hooks/{id}': 'completions',
  'GET /hooks/{id}/executions': 'completions',
  'PATCH /hooks/{id}': 'completions',
  'DELETE /hooks/{id}': 'completions',
  'POST /webhooks': 'completions',
  'GET /webhooks': 'completions',
  'GET /webhooks/{id}': 'completions',
  'PATCH /webhooks/{id}': 'completions',
  'DELETE /webhooks/{id}': 'completions',
  'POST /webhooks/{id}/test': 'completions',
  'PUT /webhooks/{id}/listener': 'completions',
  'GET /webhooks/{id}/deliveries': 'completions',
  'GET /webhooks/{id}/deliveries/{deliveryId}': 'completions',
  'POST /webhooks/{id}/deliveries/{deliveryId}/retry': 'completions',
  'POST /webhooks/{id}/rotate-secret': 'completions',
  'GET /webhooks/{id}/stats': 'completions',
  'POST /iframes': 'completions',
  'GET /iframes': 'completions',
  'GET /iframes/{id}': 'completions',
  'PATCH /iframes/{id}': 'completions',
  'DELETE /iframes/{id}': 'completions',
  'POST /iframes/{id}/duplicate': 'completions',
  'POST /iframes/{id}/preview-token': 'completions',
  'POST /iframes/{id}/verify': 'completions',
  'GET /iframes/{id}/analytics': 'completions',
  'GET /iframes/{id}/conversations': 'completions',
  'GET /iframes/{id}/conversations/{sessionId}': 'completions',
  'POST /iframes/{id}/conversations/{sessionId}/takeover': 'completions',
  'POST /iframes/{id}/conversations/{sessionId}/messages': 'completions',
  'POST /iframes/{id}/conversations/{sessionId}/typing': 'completions',
  'POST /iframes/{id}/identity-secret': 'completions',
  'POST /iframes/{id}/conversations/{sessionId}/notes': 'completions',
  'POST /iframes/{id}/conversations/{sessionId}/handover': 'completions',
  'POST /iframes/{id}/conversations/{sessionId}/draft': 'completions',
  'POST /iframes/{id}/conversations/{sessionId}/release': 'completions',
  'POST /iframes/{id}/conversations/{sessionId}/close': 'completions',
}

const closed = routes.filter(({ isOpen }) => !isOpen)
const holders = await Promise.all(
  SCOPES.map(async (scope) => ({ holds: scope, person: await world.person({ scopes: [scope] }) })),
)
const cells = closed.flatMap((route) => holders.map((holder) => ({ ...holder, ...route })))

describe('scopes (I23)', () => {
  test('the document asks for what the golden table asks for', () => {
    expect(Object.fromEntries(closed.map(({ name, scope }) => [name, scope]))).toEqual(GOLDEN)
  })

  /** The body is not JSON: a key without the scope must be told of the scope, one with it of the body. */
  test.each(cells)('a key for $holds alone at $name', async ({ holds, scope, person, method, path, hasBody }) => {
    const reply = await person.send(method, withId(path, 'none'), hasBody ? '{"broken":' : undefined)
    const isRefused = scope !== null && scope !== holds
    const { code, details } = reply.body?.error ?? {}
    expect((details?.error_code ?? code) === 'missing_scope').toBe(isRefused)
    if (isRefused) expect(reply.status).toBe(403)
    if (!isRefused && hasBody) expect(reply.status).toBe(400)
  })

  test('the refusal names what the key has and what it lacks', async () => {
    const { person } = holders.find(({ holds }) => holds === 'tools')!
    const { body } = await person.send('POST', 'completions', { prompt: 'hi' })
    expect(body.error).toMatchObject({ type: 'permission_error', code: 'missing_scope' })
    expect(body.error.message).toBe(
      "This key may use tools; POST /completions needs the scope completions. The key's owner can add it.",
    )
  })

  test('a refused call leaves nothing behind', async () => {
    const person = await world.person({ scopes: ['billing'] })
    await person.send('POST', 'completions', { prompt: 'hi' })
    await person.send('POST', 'chat/completions', { messages: [{ role: 'user', content: 'hi' }] })
    expect((await person.send('GET', 'audit?action=completion.*')).body).toEqual([])
  })
})
