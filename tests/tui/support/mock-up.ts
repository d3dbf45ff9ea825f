import type { TopicName } from '../../../src/operators/schema'
import { chat, delivery, entry, event, job, key, session, submission } from './mock-rows'

/** The operation that the mock-ups of the dashboard show; ages count from the moment it is asked for. */
export type MockUp = Record<TopicName, { facts: object; rows: ({ id: string } & Record<string, unknown>)[] }>

const [S, M, H, D] = [1_000, 60_000, 3_600_000, 86_400_000]

export function mockUp(now: number): MockUp {
  const ago = (ms: number) => new Date(now - ms).toISOString()
  const soon = (ms: number) => new Date(now + ms).toISOString()
  const wave = Array.from({ length: 60 }, (_, at) => Math.round(300 + 150 * Math.sin(at / 6) + (at % 7) * 10))
  return {
    overview: {
      facts: {
        status: {
          version: '0.1.0',
          health: 'healthy',
          started_at: ago(6 * D + 4 * H + 11 * M),
          database: { latency_ms: 2 },
          nodes: { count: 1, unserved: [] as string[] },
        },
        providers: {
          'svc-core': { status: 'healthy', latencyMs: 45 },
          'svc-vision': { status: 'healthy', latencyMs: 120 },
          'svc-search': { status: 'degraded', latencyMs: 2_100 },
          'svc-motion': { status: 'unconfigured', latencyMs: null },
        },
        infrastructure: { database: { status: 'healthy', latencyMs: 2 }, redis: { status: 'healthy', latencyMs: 1 } },
        traffic: {
          per_minute: 412,
          requests: wave,
          errors: wave.map((_, at) => at % 9),
          p95s: wave.map((one) => one * 10),
          recent: {
            requests: 2_060,
            error_rate: 0.012,
            '4xx': 3.1,
            '429': 1.7,
            '402': 0,
            '5xx': 0.4,
            p50: 640,
            p95: 3_900,
          },
        },
        queue: { queued: 14, active: 6, failed: 2, total: 118, oldest: ago(2 * M + 20 * S) },
        delivery: { ok: 1_204, failed: 9, retrying: 4, total: 1_213, slowest_ms: 8_200, off: [] },
        browser: { open: 3, slots: 12, longest_ms: 11 * M, cap_ms: 20 * M },
        spend: {
          cost_cents: 1_842,
          cache_rate: 0.31,
          saved_cents: 410,
          cached: [0.5, 0.6, 0.6, 0.5, 0.4, 0.5, 0.5, 0.6, 0.6, 0.5, 0.4, 0.5],
          cap_cents: 5_000,
          capped_cents: 1_842,
          slot: {
            now: { requests: 2_060, error_rate: 0.012, p95: 3_900, cost_cents: 160 },
            day_ago: { requests: 2_145, error_rate: 0.01, p95: 3_600, cost_cents: 120 },
          },
          owners: [
            { owner: 'Acme', cost_cents: 910 },
            { owner: 'Beta', cost_cents: 402 },
          ],
          modes: [
            { mode: 'fast', per_minute: 281, p50: 420, p95: 1_100, error_rate: 0.003, cost_cents: 84 },
            { mode: 'think', per_minute: 44, p50: 2_900, p95: 7_400, error_rate: 0.009, cost_cents: 210 },
            { mode: 'image', per_minute: 11, p50: 6_100, p95: 9_800, error_rate: 0.041, cost_cents: 92 },
          ],
        },
        needs: [
          { kind: 'visitors', count: 2, about: 'widget shop-help', since: ago(4 * M + 12 * S) },
          { kind: 'submissions', count: 3, about: '1 security, 2 staff', since: ago(26 * H + 30 * M) },
          { kind: 'webhooks', count: 1, about: 'hooks.acme.dev', since: ago(22 * M + 30 * S), failures: 10 },
          { kind: 'increases', count: 1, about: 'key Production to pro', since: ago(3 * H + 30 * M) },
        ],
      },
      rows: [],
    },
    jobs: {
      facts: {},
      rows: [
        job('job_7Qm2Zs', { status: 'queued', place: 14, created_at: ago(2 * M + 30 * S) }),
        job('job_7Qm1Ab', {
          status: 'queued',
          type: 'video',
          place: 15,
          key: 'Marketing',
          created_at: ago(2 * M + 20 * S),
        }),
        job('job_7QkX0a', { progress: 62, stage: 'reading', started_at: ago(3 * M + 30 * S) }),
        job('job_7Qk9Lw', { type: 'video', key: 'Marketing', progress: 21, started_at: ago(2 * M + 31 * S) }),
        job('job_7Qk8Gd', { progress: 94, started_at: ago(5 * M + 25 * S) }),
        job('job_7Qh4Pp', {
          ...{ status: 'failed', type: 'video', key: 'Marketing', error: 'engine refused' },
          completed_at: ago(6 * M + 20 * S),
        }),
        job('job_7Qg0Rr', {
          status: 'failed',
          error: 'cancelled',
          key: 'Dev laptop',
          completed_at: ago(9 * M + 20 * S),
        }),
        job('job_7Qh1Aa', {
          ...{ status: 'completed', key: 'Dev laptop', started_at: ago(8 * M + 1 * S) },
          completed_at: ago(7 * M + 20 * S),
        }),
      ],
    },
    deliveries: {
      facts: {},
      rows: [
        delivery(
          '7c01',
          {
            event_id: 'evt_1',
            event_type: 'completion.created',
            attempt: 2,
            duration_ms: 10_000,
            next_retry_at: soon(M),
          },
          'api.beta.io/svc',
        ),
        delivery('2c9e41aa', {
          http_status: 503,
          attempt: 4,
          duration_ms: 8_200,
          error_message: '"upstream timed out"',
        }),
        delivery('2c9e41ab', { http_status: 503, attempt: 3, duration_ms: 8_100 }),
        delivery(
          '55aa',
          { event_id: 'evt_2', event_type: 'skill.approved', http_status: 410, duration_ms: 200 },
          'api.beta.io/svc',
        ),
        delivery('55ab', { event_id: 'evt_3', status: 'success', http_status: 200, duration_ms: 100 }),
        delivery(
          '55ac',
          { event_id: 'evt_4', event_type: 'credits.low', status: 'success', http_status: 204, duration_ms: 100 },
          'ops.acme.dev/alert',
        ),
      ].map((row, at) => ({ ...row, created_at: ago(at * M) })),
    },
    takeovers: {
      facts: {
        ...{ with_ai: 37, today: { chats: 50, picked_up: 38, waiting: 3, left: 3, wait_ms: 52_000 } },
        asks: [{ widget: 'shop-help', words: ['real person', 'agent'] }],
      },
      rows: [
        chat('s1', {
          takeover_status: 'requested',
          said: 'can I talk to a real person',
          changed_at: ago(4 * M + 12 * S),
          page: '/cart',
        }),
        chat('s2', {
          widget: 'docs-bot',
          takeover_status: 'requested',
          said: 'agent please',
          changed_at: ago(2 * M + 20 * S),
        }),
        chat('s3', {
          takeover_status: 'human',
          operator_id: 'operator:sam',
          operator_name: 'Sam',
          said: 'charged twice',
          changed_at: ago(3 * M + 12 * S),
          page: '/checkout',
          back_at: soon(29 * M + 10 * S),
        }),
        chat('s4', {
          takeover_status: 'human',
          operator_id: 'operator:priya',
          operator_name: 'Priya',
          said: 'ok',
          changed_at: ago(9 * M + 30 * S),
        }),
        ...['/install', '/returns', '/sale'].map((page, at) =>
          chat(`ai${at}`, { widget: at ? 'shop-help' : 'docs-bot', page }),
        ),
      ].map(({ page = '/', ...row }) => ({
        ...row,
        page_url: `https://shop.example${page}`,
        created_at: ago(12 * M + 30 * S),
        last_message_at: ago(M + 20 * S),
        changed_at: row.changed_at ?? ago(30 * M + 20 * S),
      })),
    },
    submissions: { facts: {}, rows: [{ ...submission(ago(26 * H + 30 * M)) }] },
    browser: {
      facts: { slots: 12, cap_s: 1_200, idle_s: 180, today_minutes: 134, today_cents: 86 },
      rows: [
        session('bb_sess_9f2c01', 'https://shop.example/cart?step=2', 'Cart (3)', 14, {
          left: soon(8 * M + 41 * S),
          last: ago(12 * S),
        }),
        session('bb_sess_77d0aa', 'https://docs.example/install', 'Install', 3, {
          left: soon(4 * M + 20 * S),
          last: ago(90 * S),
        }),
        {
          ...session('bb_sess_10be44', 'https://bank.example/sign-in', 'Sign in', 7, {
            left: soon(5 * M + 55 * S),
            last: ago(20 * S),
          }),
          ...{ waits: true, wanted: 'the page wants a one-time code' },
        },
      ].map((one) => ({
        ...one,
        started_at: ago(11 * M + 20 * S),
        steps: one.id.endsWith('01')
          ? [
              { at: ago(80 * S), actor: 'agent', tool: 'browser_navigate', input: 'shop.example', ok: true },
              { at: ago(20 * S), actor: 'agent', tool: 'browser_act', input: 'press "+" on row 2', ok: true },
              { at: ago(3 * S), actor: 'agent', tool: 'browser_act', input: 'press Checkout', ok: false },
            ]
          : [],
      })),
    },
    keys: {
      facts: { total: 6 },
      rows: [
        key('Production', 'a1b2', {
          ...{ tier: 'pro', rpm: [412, 1_000], spent: 910, cap: 2_000, used: ago(2 * M) },
          asked: { id: 'rli_1', tier: 'enterprise', why: 'launch on Monday', at: ago(3 * H + 30 * M) },
        }),
        key('Marketing', '77ce', { tier: 'starter', rpm: [8, 300], spent: 498, cap: 500, used: ago(3 * M) }),
        key('CI', '0d91', { used: ago(3 * D + H) }),
        key('Dev laptop', 'b3f0', { rpm: [2, 60], spent: 12, cap: 100, used: ago(4 * M) }),
        key('old-server', '5e5e', { tier: 'pro', rpm: [0, 1_000], used: ago(94 * D) }),
        { ...key('leaked', '0bad', { used: ago(9 * D) }), status: 'revoked' },
      ],
    },
    audit: {
      facts: { chains: [{ scope: 'org:acme', seq: 184_219, hash: `9c41${'0'.repeat(56)}e07b`, signed_at: ago(M) }] },
      rows: [
        event(184_219, 'key.created', 'api_key', 'Batch worker', {
          operator: { name: 'sam@ops-1', reason: 'nightly batch, ticket 4471', transport: 'socket' },
          tier: 'free',
        }),
        event(184_102, 'widget.takeover_started', 'widget_session', '4f2a', { operator: { name: 'sam@ops-1' } }),
        event(183_870, 'skill.rejected', 'submission', 'sub_8be0', { operator: { name: 'priya@ops-2' } }),
        event(183_641, 'skill.installed', 'skill', 'customer-support', {}, 'Production'),
        event(182_900, 'webhook.auto_disabled', 'webhook', 'hooks.acme.dev', {}),
      ].map((row, at) => ({ ...row, timestamp: ago(at * M) })),
    },
    logs: {
      facts: {},
      rows: [
        entry('req_01JD8R0', 429, 'POST', '/completions', 3, 'Marketing', 'rate_limit_exceeded'),
        { ...entry('req_01JD8QZ', 200, 'POST', '/completions', 1_200, 'Production'), cost_cents: 0.02 },
        entry('req_01JD8QY', 400, 'POST', '/completions', 2, 'Dev laptop', 'validation_error'),
        entry('req_01JD8QX', 402, 'POST', '/images', 4, 'Marketing', 'insufficient_credits'),
        entry('req_01JD8QW', 404, 'GET', '/jobs/job_nope', 2, 'Production', 'not_found'),
        entry('req_01JD8QV', 503, 'POST', '/research', 9, 'Production', 'engine_unavailable'),
      ].map((row, at) => ({ ...row, at: ago(at * S) })),
    },
  }
}
