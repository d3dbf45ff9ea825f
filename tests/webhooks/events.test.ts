import { expect, test } from 'bun:test'
import { SAMPLES } from '../../src/events/schema'
import type { Tier } from '../../src/kernel/caller'
import { jobsIn, kindOf, report } from '../charging/public-jobs/support'
import { manifest, reviewer, staffManifest, submit } from '../skills/support'
import { eventually } from '../support/eventually'
import { createWorld, type Person } from '../support/world'
import { createReceiver, LOCAL, webhooksIn } from './support'

const world = await createWorld({ config: LOCAL })
const { make, deliver } = webhooksIn(world)
const { accept, define, run } = jobsIn(world)
const good = define(kindOf(report))
const bad = define(
  kindOf(
    async () => {
      throw new Error('broken')
    },
    { retry: { attempts: 1, delayMs: () => 0 } },
  ),
)
const CANARY = 'canary words of mine'
const text = expect.any(String)
const number = expect.any(Number)

type Case = { type: string; cause(by: Person): Promise<unknown>; data: object; tier?: Tier }

const admin = await reviewer(world)
const SUBMISSION = { submission_id: text, skill_id: text, slug: text, version: '1.0.0' }

/** Each event of docs/api.md 14.2 that the server has a cause for, caused through the API, and its data. */
const CASES: Case[] = [
  {
    type: 'completion.created',
    cause: (by) => by.send('POST', 'completions', { prompt: CANARY, mode: 'fast', metadata: { tag: 'a' } }),
    data: {
      completion_id: expect.stringMatching(/^cmpl_/),
      object: 'completion',
      mode: 'fast',
      resolved_mode: 'fast',
      model: { id: text, label: text, engine: text },
      conversation_id: text,
      api_key_id: text,
      usage: { cost_cents: number, prompt_tokens: number, completion_tokens: number, total_tokens: number },
      tools_used: [],
      artifact_count: 0,
      metadata: { tag: 'a' },
      request_id: text,
      created: text,
    },
  },
  {
    type: 'job.completed',
    cause: async (by) => {
      await accept(by, good)
      await run(good)
    },
    data: {
      job_id: text,
      type: 'research',
      status: 'completed',
      result: '# Tides [1]',
      error: null,
      usage: { cost_cents: 3 },
      created_at: text,
      completed_at: text,
    },
  },
  {
    type: 'job.failed',
    cause: async (by) => {
      await accept(by, bad)
      await run(bad)
    },
    data: {
      job_id: text,
      type: 'research',
      status: 'failed',
      result: null,
      error: text,
      usage: { cost_cents: 0 },
      created_at: text,
      completed_at: text,
    },
  },
  {
    type: 'skill.installed',
    cause: (by) => by.send('POST', 'skills', { slug: 'email-drafter' }),
    data: { skill_id: text, slug: 'email-drafter', version: text, user_id: text },
  },
  {
    type: 'skill.uninstalled',
    cause: async (by) => {
      await by.send('POST', 'skills', { slug: 'email-drafter' })
      await by.send('DELETE', 'skills', { slug: 'email-drafter' })
    },
    data: { skill_id: text, slug: 'email-drafter', version: text, user_id: text },
  },
  {
    type: 'skill.submitted',
    cause: (by) => submit(by, staffManifest()),
    data: { ...SUBMISSION, status: 'pending_review', review_tier: 'staff', auto_approved: false, reason: null },
  },
  {
    type: 'skill.approved',
    cause: (by) => submit(by, manifest()),
    data: { ...SUBMISSION, status: 'approved', review_tier: 'auto', auto_approved: true, reason: null },
  },
  {
    type: 'skill.rejected',
    cause: async (by) => admin.decide((await submit(by, staffManifest())).id, 'reject', 'Too vague.'),
    data: { ...SUBMISSION, status: 'rejected', review_tier: 'staff', auto_approved: false, reason: 'Too vague.' },
  },
  {
    type: 'skill.suspended',
    cause: async (by) => admin.decide((await submit(by, manifest())).id, 'suspend', 'Broke the rules.'),
    data: { ...SUBMISSION, status: 'suspended', review_tier: 'auto', auto_approved: true, reason: 'Broke the rules.' },
  },
  {
    type: 'connector.created',
    cause: (by) => by.send('POST', 'completions', { prompt: 'hi', mode: 'fast', metadata: { channel: 'telegram' } }),
    data: { connector_id: text, type: 'telegram', status: 'active', previous_status: null },
  },
  {
    type: 'rate_limit.upgraded',
    cause: async (by) => {
      const input = { requested_tier: 'enterprise', use_case: 'more', expected_volume: 'more' }
      const { body } = await by.send('POST', 'rate-limits/request-increase', input)
      await admin.send('POST', `rate-limits/requests/${body.id}/decision`, { decision: 'approve' })
    },
    tier: 'pro',
    data: {
      key_id: text,
      previous_tier: 'pro',
      tier: 'enterprise',
      rpm: number,
      tpm: number,
      increase_request_id: expect.stringMatching(/^rli_/),
    },
  },
  {
    type: 'credits.low',
    cause: async (by) => {
      await by.send('PATCH', 'billing/limits', { low_balance_threshold_cents: 9_998 })
      await accept(by, good)
      await run(good)
    },
    data: { scope: 'user', org_id: null, balance_cents: number, threshold_cents: 9_998 },
  },
  {
    type: 'key.created',
    cause: (by) => by.send('POST', 'keys', { name: 'one' }),
    data: { key_id: text, name: 'one', prefix: text, scopes: expect.any(Array), scope: 'personal', org_id: null },
  },
  {
    type: 'key.revoked',
    cause: async (by) => by.send('DELETE', `keys/${(await by.send('POST', 'keys', { name: 'one' })).body.id}`),
    data: { key_id: text, name: 'one', prefix: text, scopes: expect.any(Array), scope: 'personal', org_id: null },
  },
  {
    type: 'guardrail.triggered',
    cause: async (by) => {
      const rules = [{ guardrail_id: 'max_length', phase: 'input', verdict: 'flag', config: { max_chars: 5 } }]
      await by.send('POST', 'guardrail-policies', { name: 'short', rules, is_default: true })
      await by.send('POST', 'completions', { prompt: CANARY, mode: 'fast' })
    },
    data: {
      policy_id: text,
      guardrail_id: 'max_length',
      phase: 'input',
      verdict: 'flag',
      api_key_id: text,
      request_id: text,
    },
  },
  ...(['completed', 'failed'] as const).map(
    (status): Case => ({
      type: `workflow.${status}`,
      async cause(by) {
        const good = { type: 'output', name: 'a', config: { format: 'text', template: CANARY } }
        const wrong = { type: 'tool', name: 'a', config: { name: 'no_such_tool' } }
        const steps = [status === 'failed' ? wrong : good]
        const { workflow } = (await by.send('POST', 'workflows', { name: 'Flow', triggerType: 'manual', steps })).body
        const ran = by.send('POST', `workflows/${workflow.id}/run`, {})
        await eventually(() => world.app.container.jobs.runDue('workflow.run'))
        await ran
      },
      data: {
        workflow_id: text,
        run_id: text,
        name: 'Flow',
        status,
        trigger_type: 'manual',
        steps_completed: number,
        error: status === 'failed' ? text : null,
        started_at: text,
        completed_at: text,
      },
    }),
  ),
]

test.each(CASES)(
  'what the server does is told with its data, and without the words of anybody (docs/api.md 14.2): $type',
  async ({ type, cause, data, tier }) => {
    const ada = await world.person(tier ? { tier } : {})
    const receiver = createReceiver()
    await make(ada, receiver.url, { event_types: [type] })
    await cause(ada)
    await deliver()
    expect(receiver.got).toHaveLength(1)
    const sent = JSON.parse(receiver.got[0]!.body)
    expect(Object.keys(sent)).toEqual(['id', 'type', 'created', 'data'])
    expect(sent).toEqual({ id: expect.stringMatching(/^evt_/), type, created: text, data })
    const { data: sample } = SAMPLES[type as keyof typeof SAMPLES]
    expect(Object.keys(sample).sort()).toEqual(Object.keys(sent.data).sort())
    expect(receiver.got[0]!.body).not.toContain(CANARY)
    expect((await ada.send('GET', `events?eventType=${type}`)).body.events).toMatchObject([
      { id: sent.id, eventType: type },
    ])
  },
)
