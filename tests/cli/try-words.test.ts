import { expect, test } from 'bun:test'
import { sameCall, summaryOf } from '../../cli/commands/try'

const PROMPTS = [`it's "here"`, '$HOME `id` \\ !', 'two\nlines', '', '-n --help', 'ünïcode 🎈', '\u202ebackwards']

test.each(PROMPTS)('the curl for %j sends that prompt through a shell unchanged', (prompt) => {
  const call = sameCall({ prompt }, 'http://localhost:3400', 'data/dev-key').join('\n')
  const [, word] = /-d (.*)$/s.exec(call)!
  expect(JSON.parse(Bun.spawnSync(['sh', '-c', `printf %s ${word}`]).stdout.toString())).toEqual({ prompt })
})

test('the curl names where the key is, never the key', () => {
  expect(sameCall({ prompt: 'x' }, 'http://localhost:3400', "my keys/it's")[1]).toBe(
    `  export SVC_API_KEY=$(cat 'my keys/it'\\''s')`,
  )
  expect(sameCall({ prompt: 'x' }, 'http://localhost:3400', 'SVC_OPERATOR_KEY').join('\n')).toContain(
    'Bearer $SVC_OPERATOR_KEY',
  )
})

test('the summary says who answered, for how much and how fast', () => {
  const answer = {
    id: 'cmpl_1',
    content: 'Hello.',
    mode: 'auto',
    resolved_mode: 'fast',
    model: { id: 'svc-1-flash', label: 'Svc Flash' },
    usage: { cost_cents: 0.0042, total_tokens: 12, cached: true },
    request_id: 'req_1',
    warnings: ['skill "x" was skipped'],
  }
  expect(summaryOf(answer, 38)).toEqual([
    '',
    'model svc-1-flash (Svc Flash)  mode auto → fast  0.0042¢  12 tokens  38 ms',
    'request req_1',
    'served from cache, free',
    'warning: skill "x" was skipped',
  ])
})
