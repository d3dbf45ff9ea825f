import { describe, expect, test } from 'bun:test'
import { simple } from '../automation/canvases/drawing'
import { jobsIn, kindOf, report } from '../charging/public-jobs/support'
import { batchOf, PIXEL, saveFor, sendFile } from '../files/support'
import { createWorld, type Person } from '../support/world'
import { routesOf, withId } from './matrix'

const world = await createWorld({ config: { signup: 'open' } })
const routes = await routesOf(world)
const { accept, define } = jobsIn(world)
const research = define(kindOf(report))
/** Stands for the user's own id. */
const SELF = 'self'
const WEBHOOK = { url: 'https://203.0.112.7/hook', event_types: ['order.*'] }
const VIEW = { name: 'mine', section: 'requests', query: '' }
const TEST_CASE = { name: 'mine', request: { prompt: 'hello' }, checks: [] }
const WORKFLOW = {
  name: 'Flow',
  triggerType: 'manual',
  steps: [{ type: 'transform', name: 'a', config: { template: 1 } }],
}
const CANARY = 'canary-9f3a words of mine'

/**
 * One successful call of every route that changes something or costs something, and the row it leaves (docs/api.md 19).
 */
const ACTIONS: Record<string, { action: string; entityType: string; body?: object }> = {
  'POST /completions': { action: 'completion.created', entityType: 'completion', body: { prompt: CANARY } },
  'POST /chat/completions': {
    action: 'completion.created',
    entityType: 'completion',
    body: { messages: [{ role: 'user', content: CANARY }] },
  },
  'POST /messages': {
    action: 'completion.created',
    entityType: 'completion',
    body: { max_tokens: 100, messages: [{ role: 'user', content: CANARY }] },
  },
  'POST /responses': { action: 'completion.created', entityType: 'completion', body: { input: CANARY } },
  'DELETE /responses/{id}': { action: 'response.deleted', entityType: 'response' },
  'POST /research': { action: 'research.created', entityType: 'job', body: { prompt: CANARY } },
  'POST /images': { action: 'image.created', entityType: 'image', body: { prompt: CANARY } },
  'POST /images/generations': { action: 'image.created', entityType: 'image', body: { prompt: CANARY } },
  'POST /conversations': {
    action: 'conversation.created',
    entityType: 'conversation',
    body: { items: [{ role: 'user', content: CANARY }], metadata: { note: CANARY } },
  },
  'POST /conversations/{id}': {
    action: 'conversation.updated',
    entityType: 'conversation',
    body: { metadata: { note: CANARY } },
  },
  'POST /conversations/{id}/items': {
    action: 'conversation.updated',
    entityType: 'conversation',
    body: { items: [{ role: 'user', content: CANARY }] },
  },
  'PATCH /conversations/{id}': { action: 'conversation.updated', entityType: 'conversation', body: { title: CANARY } },
  'DELETE /conversations/{id}': { action: 'conversation.deleted', entityType: 'conversation' },
  'POST /embeddings': { action: 'embedding.created', entityType: 'embedding', body: { input: CANARY } },
  'POST /moderations': { action: 'moderation.created', entityType: 'moderation', body: { input: CANARY } },
  'POST /memory': { action: 'memory.created', entityType: 'memory', body: { content: CANARY } },
  'DELETE /memory/{id}': { action: 'memory.deleted', entityType: 'memory' },
  'POST /jobs/{id}/cancel': { action: 'job.cancelled', entityType: 'job' },
  'POST /code': { action: 'code.created', entityType: 'code', body: { prompt: CANARY } },
  'POST /documents': { action: 'document.created', entityType: 'document', body: { prompt: CANARY, format: 'csv' } },
  'POST /batches/{id}/cancel': { action: 'batch.cancelled', entityType: 'batch' },
  'DELETE /files/{id}': { action: 'file.deleted', entityType: 'file' },
  'DELETE /artifacts/{id}': { action: 'artifact.deleted', entityType: 'artifact' },
  'POST /skills': { action: 'skill.installed', entityType: 'skill', body: { slug: 'email-drafter' } },
  'DELETE /skills': { action: 'skill.uninstalled', entityType: 'skill', body: { slug: 'todo-manager' } },
  'DELETE /skills/{id}/install': { action: 'skill.uninstalled', entityType: 'skill' },
  'PATCH /skills/{id}/installation': { action: 'skill.updated', entityType: 'skill', body: { enabled: false } },
  'POST /skills/{id}/reviews': { action: 'skill.reviewed', entityType: 'skill', body: { rating: 4, body: CANARY } },
  'POST /skills/sandbox': {
    action: 'skill.tested',
    entityType: 'skill',
    body: { skill_id: 'email-drafter', prompt: CANARY },
  },
  'POST /evi/canvases': { action: 'canvas.created', entityType: 'canvas', body: { name: CANARY } },
  'PATCH /evi/canvases/{id}': { action: 'canvas.updated', entityType: 'canvas', body: { name: CANARY } },
  'DELETE /evi/canvases/{id}': { action: 'canvas.deleted', entityType: 'canvas' },
  'POST /evi/canvases/{id}/workflow': { action: 'workflow.created', entityType: 'workflow', body: { name: CANARY } },
  'POST /evi/canvases/{id}/compile': { action: 'canvas.compiled', entityType: 'canvas' },
  'POST /keys': { action: 'key.created', entityType: 'api_key', body: { name: CANARY } },
  'PUT /keys/{id}': { action: 'key.updated', entityType: 'api_key', body: { name: CANARY } },
  'PATCH /keys/{id}': { action: 'key.updated', entityType: 'api_key', body: { name: CANARY } },
  'POST /keys/{id}/rotate': { action: 'key.rotated', entityType: 'api_key', body: { grace_period_seconds: 60 } },
  'DELETE /keys/{id}': { action: 'key.revoked', entityType: 'api_key' },
  'PATCH /billing/limits': { action: 'billing.limits_updated', entityType: 'billing', body: { daily_cap_cents: 5 } },
  'POST /billing/checkout': { action: 'billing.checkout_created', entityType: 'billing', body: { amount_cents: 500 } },
  'POST /billing/portal': { action: 'billing.portal_opened', entityType: 'billing', body: {} },
  'POST /guardrail-policies': {
    action: 'guardrail_policy.created',
    entityType: 'guardrail_policy',
    body: { name: CANARY },
  },
  'PATCH /guardrail-policies/{id}': {
    action: 'guardrail_policy.updated',
    entityType: 'guardrail_policy',
    body: { name: CANARY },
  },
  'DELETE /guardrail-policies/{id}': { action: 'guardrail_policy.deleted', entityType: 'guardrail_policy' },
  'PUT /keys/{id}/guardrails': { action: 'key.updated', entityType: 'api_key', body: { guardrail_policy_id: null } },
  'POST /routing-preferences': {
    action: 'routing_preference.created',
    entityType: 'routing_preference',
    body: { name: CANARY },
  },
  'PATCH /routing-preferences/{id}': {
    action: 'routing_preference.updated',
    entityType: 'routing_preference',
    body: { name: CANARY },
  },
  'DELETE /routing-preferences/{id}': { action: 'routing_preference.deleted', entityType: 'routing_preference' },
  'POST /routing-corrections': {
    action: 'routing_correction.created',
    entityType: 'routing_correction',
    body: { prompt: CANARY, note: CANARY, expected_mode: 'think' },
  },
  'PUT /keys/{id}/routing-preference': {
    action: 'key.updated',
    entityType: 'api_key',
    body: { routing_preference_id: null },
  },
  'PUT /keys/{id}/routing-rules': {
    action: 'key.updated',
    entityType: 'api_key',
    body: { rules: [{ pattern: CANARY, target_mode: 'code' }] },
  },
  'POST /workflows': { action: 'workflow.created', entityType: 'workflow', body: WORKFLOW },
  'PATCH /workflows/{id}': { action: 'workflow.updated', entityType: 'workflow', body: { name: CANARY } },
  'DELETE /workflows/{id}': { action: 'workflow.deleted', entityType: 'workflow' },
  'POST /events': {
    action: 'event.published',
    entityType: 'event',
    body: { orgId: SELF, eventType: 'order.created', payload: CANARY },
  },
  'POST /hooks': {
    action: 'hook.created',
    entityType: 'hook',
    body: { hook_preset_id: 'task.overdue.summary', name: CANARY },
  },
  'PATCH /hooks/{id}': { action: 'hook.updated', entityType: 'hook', body: { name: CANARY } },
  'DELETE /hooks/{id}': { action: 'hook.deleted', entityType: 'hook' },
  'POST /views': { action: 'saved_view.created', entityType: 'saved_view', body: VIEW },
  'PATCH /views/{id}': { action: 'saved_view.updated', entityType: 'saved_view', body: { name: CANARY } },
  'DELETE /views/{id}': { action: 'saved_view.deleted', entityType: 'saved_view' },
  'POST /test-cases': { action: 'test_case.created', entityType: 'test_case', body: TEST_CASE },
  'PATCH /test-cases/{id}': { action: 'test_case.updated', entityType: 'test_case', body: { name: CANARY } },
  'DELETE /test-cases/{id}': { action: 'test_case.deleted', entityType: 'test_case' },
  'POST /webhooks': { action: 'webhook.created', entityType: 'webhook', body: WEBHOOK },
  'PATCH /webhooks/{id}': { action: 'webhook.updated', entityType: 'webhook', body: { description: CANARY } },
  'DELETE /webhooks/{id}': { action: 'webhook.deleted', entityType: 'webhook' },
  'POST /webhooks/{id}/test': { action: 'webhook.tested', entityType: 'webhook' },
  'POST /webhooks/{id}/retry-failed': {
    action: 'webhook.failed_retried',
    entityType: 'webhook',
    body: { from: '2026-01-01' },
  },
  'POST /webhooks/{id}/rotate-secret': { action: 'webhook.secret_rotated', entityType: 'webhook' },
  'POST /iframes': { action: 'iframe.created', entityType: 'iframe', body: { api_key_id: SELF, name: CANARY } },
  'PATCH /iframes/{id}': { action: 'iframe.updated', entityType: 'iframe', body: { name: CANARY } },
  'DELETE /iframes/{id}': { action: 'iframe.deleted', entityType: 'iframe' },
  'POST /iframes/{id}/duplicate': { action: 'iframe.duplicated', entityType: 'iframe', body: { name: CANARY } },
  'POST /iframes/{id}/identity-secret': { action: 'iframe.identity_secret_made', entityType: 'iframe' },
  'PATCH /settings': { action: 'settings.updated', entityType: 'settings', body: { personality: 'none' } },
}
/** Rows of these are seen by tests of their own: they have no key to ask with, or take more to make. */
const ELSEWHERE = [
  'POST /workflows/{id}/run',
  'DELETE /conversations/{id}/items/{item}',
  'POST /workflows/{id}/runs/{runId}/approve',
  'POST /workflows/{id}/runs/{runId}/reject',
  'POST /workflows/{id}/runs/{runId}/cancel',
  'POST /video',
  'POST /voice/token',
  'POST /browser/sessions',
  'POST /browser/sessions/{id}/actions',
  'DELETE /browser/sessions/{id}',
  'POST /voice/action',
  'POST /files',
  'POST /batches',
  'POST /audio/tts',
  'POST /audio/speech',
  'POST /audio/stt',
  'POST /audio/transcriptions',
  'POST /audio/translations',
  'POST /images/edits',
  'POST /skills/create',
  'POST /skills/submit',
  'POST /skills/submissions/{id}/review',
  'DELETE /skills/submissions/{id}',
  'PATCH /skills/{id}',
  'DELETE /skills/{id}',
  'POST /test-cases/run',
  'POST /requests/{id}/replay',
  'POST /auth/signup',
  'POST /auth/sessions',
  'DELETE /auth/sessions',
  'DELETE /auth/sessions/{id}',
  'PATCH /auth/me',
  'POST /auth/confirm',
  'POST /auth/password',
  'POST /auth/links',
  'POST /auth/links/redeem',
  'POST /rate-limits/request-increase',
  'POST /rate-limits/requests/{id}/decision',
  'POST /billing/webhook',
  'POST /evi/canvases/{id}/test',
  'POST /evi/canvases/{id}/publish',
  'POST /evi/canvases/{id}/versions/{versionId}/restore',
  'POST /webhooks/{id}/deliveries/{deliveryId}/retry',
  'POST /iframes/{id}/conversations/{sessionId}/takeover',
  'POST /iframes/{id}/conversations/{sessionId}/messages',
  'POST /iframes/{id}/conversations/{sessionId}/notes',
  'POST /iframes/{id}/conversations/{sessionId}/handover',
  'POST /iframes/{id}/conversations/{sessionId}/draft',
  'POST /iframes/{id}/conversations/{sessionId}/release',
  'POST /iframes/{id}/conversations/{sessionId}/close',
  'POST /iframes/{id}/sessions',
  'POST /iframes/{id}/sessions/{sessionId}/messages',
  'POST /iframes/{id}/sessions/{sessionId}/request-human',
  'POST /iframes/{id}/sessions/{sessionId}/identify',
  'POST /iframes/{id}/sessions/{sessionId}/feedback',
]
/** These change nothing that has a record, and cost nothing. */
const WITHOUT_EFFECT = [
  'POST /responses/input_tokens',
  'POST /responses/{id}/cancel',
  'PUT /webhooks/{id}/listener',
  'POST /iframes/{id}/preview-token',
  'POST /iframes/{id}/verify',
  'POST /iframes/{id}/conversations/{sessionId}/typing',
  'POST /iframes/{id}/sessions/{sessionId}/typing',
  'POST /messages/count_tokens',
  'POST /routing-preferences/preview',
  'POST /routing-preferences/replay',
  'POST /routing-preferences/suggest-rule',
  'POST /guardrail-policies/{id}/evaluate',
  'POST /guardrail-policies/preview',
]
/** More than one answer of these is recorded, so the status is not known from the route. */
const SEVERAL_ANSWERS = [
  'POST /skills',
  'POST /skills/sandbox',
  'POST /evi/canvases/{id}/compile',
  'POST /evi/canvases/{id}/workflow',
]
/** These stand on the record of the org: tests/accounts/orgs/record.test.ts. */
const OF_ORGS = /^[A-Z]+ \/(orgs|invitations)(\/|$)/

const changing = routes.filter(({ method }) => method !== 'GET').map(({ name }) => name)

async function idFor(path: string, ada: Person): Promise<string> {
  if (path.startsWith('/keys')) return (await ada.send('POST', 'keys', { name: 'one' })).body.id
  if (path.startsWith('/guardrail-policies')) {
    return (await ada.send('POST', 'guardrail-policies', { name: 'one' })).body.id
  }
  if (path.startsWith('/routing-preferences')) {
    return (await ada.send('POST', 'routing-preferences', { name: 'one' })).body.id
  }
  if (path.startsWith('/workflows')) return (await ada.send('POST', 'workflows', WORKFLOW)).body.workflow.id
  if (path.startsWith('/hooks')) {
    return (await ada.send('POST', 'hooks', { hook_preset_id: 'task.overdue.summary' })).body.id
  }
  if (path.startsWith('/iframes')) return (await ada.send('POST', 'iframes', { api_key_id: ada.keyId })).body.id
  if (path.startsWith('/views')) return (await ada.send('POST', 'views', VIEW)).body.id
  if (path.startsWith('/test-cases')) return (await ada.send('POST', 'test-cases', TEST_CASE)).body.id
  if (path.startsWith('/webhooks')) return (await ada.send('POST', 'webhooks', WEBHOOK)).body.id
  if (path.startsWith('/responses')) return (await ada.send('POST', 'responses', { input: 'one' })).body.id
  if (path.startsWith('/jobs')) return accept(ada, research)
  if (path.startsWith('/files')) return sendFile(ada)
  if (path.startsWith('/batches')) return (await ada.send('POST', 'batches', await batchOf(ada))).body.id
  if (path.startsWith('/artifacts')) return (await saveFor(world, ada, PIXEL)).id
  if (path.startsWith('/memory')) return (await ada.send('POST', 'memory', { content: 'one' })).body.memory.id
  if (path.startsWith('/skills')) {
    await ada.send('POST', 'skills', { slug: path === '/skills' ? 'todo-manager' : 'document-analyzer' })
    return 'document-analyzer'
  }
  if (path.startsWith('/evi/canvases')) {
    return (await ada.send('POST', 'evi/canvases', { name: 'one', graph_json: simple() })).body.canvas.id
  }
  return (await ada.send('POST', 'completions', { prompt: 'one' })).body.conversation_id
}

describe('every action leaves one row (docs/api.md 19)', () => {
  test('none is forgotten here', () => {
    const known = [...ELSEWHERE, ...WITHOUT_EFFECT]
    expect(changing.filter((name) => !ACTIONS[name] && !known.includes(name) && !OF_ORGS.test(name))).toEqual([])
  })

  test.each(Object.entries(ACTIONS))('%s', async (name, { action, entityType, body }) => {
    const ada = await world.person()
    const [method, path] = name.split(' ') as [string, string]
    const id = await idFor(path, ada)
    const own = body && {
      ...body,
      ...('orgId' in body ? { orgId: ada.userId } : {}),
      ...('api_key_id' in body ? { api_key_id: ada.keyId } : {}),
    }
    const reply = await ada.send(method, withId(path, id), own)
    expect(reply.status).toBeLessThan(300)
    const requestId = reply.headers.get('x-request-id')
    const { body: rows, text } = await ada.send('GET', `audit?request_id=${requestId}`)
    expect(rows).toMatchObject([{ action, entityType, userId: ada.userId, apiKeyId: ada.keyId, requestId }])
    expect(rows[0].inputSummary).toMatchObject({ method, endpoint: path.replace('{id}', ':id'), api_key_id: ada.keyId })
    const notice = await ada.send('GET', `audit?request_id=${requestId}&status=${reply.status}`)
    if (!SEVERAL_ANSWERS.includes(name)) expect(notice.body).toEqual(rows)
    expect(text).not.toContain('canary')
  })

  test.each([
    'GET /models',
    'GET /conversations',
    'GET /keys',
    'GET /audit',
    'GET /usage',
    'GET /requests',
    'GET /benchmarks',
    'GET /rate-limits',
    'GET /health',
  ])('a plain read leaves none: %s', async (name) => {
    const ada = await world.person()
    const before = (await ada.send('GET', 'audit')).body.length
    await ada.send('GET', name.slice('GET /'.length))
    expect((await ada.send('GET', 'audit')).body).toHaveLength(before)
  })

  test('a session signs in and out on the record, and calls as its user', async () => {
    const person = { email: 'sam@example.com', password: 'correct horse battery staple' }
    const { body: made } = await world.send('POST', 'auth/signup', person)
    const session = { authorization: `Bearer ${made.session_token}` }
    const answer = await world.send('POST', 'completions', { prompt: CANARY }, session)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('120')
    const { body: signedIn } = await world.send('POST', 'auth/sessions', person)
    const other = { authorization: `Bearer ${signedIn.session_token}` }
    await world.send('DELETE', 'auth/sessions', undefined, other)
    const { body: rows } = await world.send('GET', 'audit', undefined, session)
    const actions = rows.map(({ action }: { action: string }) => action)
    expect(actions).toContain('completion.created')
    expect(actions).toContain('auth.login')
    expect(actions).toContain('auth.logout')
    const login = rows.find(({ action }: { action: string }) => action === 'auth.login')
    expect(login).toMatchObject({ inputSummary: { endpoint: '/auth/sessions' }, outputSummary: { status: 201 } })
    expect(rows.find(({ action }: { action: string }) => action === 'completion.created')).toMatchObject({
      apiKeyId: null,
    })
  })

  test('and the chain holds', async () => {
    expect(await world.app.container.audit.verify(world.app.store.read)).toEqual([])
  })
})
