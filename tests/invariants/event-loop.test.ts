import { describe, expect, test } from 'bun:test'
import { startTarget, type Target } from '../catalogue/support'
import { keepsItsPromises, tooLong } from '../catalogue/support/oracle'
import { slowness } from '../support/effort'
import { PIXEL } from '../support/pixel'
import { SHAPES } from './shapes'

const SIZES = [1, 400, 20_000, 200_000]
const MODES = 'auto fast think code genui roast data_extraction domain_analysis research vision image'.split(' ')
const LEADS = ['', 'Summarise this: ', 'Extract the names and dates from: ', 'Translate to upper case: ', 'What is ']

const LONG = 200_000
/**
 * A window of two million tokens, so that no text of these tests is refused as too long. The scripted engine streams
 * an answer as one event, and the server refuses events of this length; so each answer is asked for whole first and
 * then streamed from the cache, which must have room for all of them.
 */
const ROOMY_ENGINE = (baseUrl: string) => ({
  SVC_CACHE_MAX_MB: '1024',
  SVC_ENGINES: JSON.stringify({
    upstreams: { up: { kind: 'compat', baseUrl, maxOutputTokens: 200_000, contextWindow: 2_000_000 } },
    models: { '*': ['up:scripted'] },
  }),
})
const noBlocks = async ({ blocks }: Target) => expect(tooLong(blocks(), await slowness())).toEqual([])

describe('I27, I28 no prompt holds up the server: the built-in engine', async () => {
  const target = await startTarget({ engine: 'builtin', env: { SVC_CACHE_ENABLED: '0' } })
  const ask = async (body: object) => {
    const { status } = await target.send('POST', 'completions', { body: { conversation_id: null, ...body } })
    expect(status).toBeOneOf([200, 400])
  }

  test.each(Object.keys(SHAPES))(
    '%s',
    async (shape) => {
      const text = SHAPES[shape]!
      for (const [n, mode] of MODES.entries()) await ask({ prompt: LEADS[n % LEADS.length] + text(LONG), mode })
      for (const lead of LEADS) await ask({ prompt: lead + text(20_000), mode: 'fast' })
      for (const length of SIZES) await ask({ prompt: text(length) || 'x' })
      await ask({ prompt: 'What is it?', conversation: { messages: [{ role: 'user', content: text(LONG) }] } })
      await ask({ prompt: 'What is it?', persona: { system_prompt: text(19_000) } })
      await noBlocks(target)
    },
    300_000,
  )
  keepsItsPromises(target)
})

describe('I28 no answer of an engine holds up the server', async () => {
  const target = await startTarget({ engine: 'builtin', env: ROOMY_ENGINE })
  test.each(Object.keys(SHAPES))(
    '%s',
    async (shape) => {
      const prompt = `[[say:${SHAPES[shape]!(LONG).replaceAll(']', '')}]]`
      for (const mode of ['fast', 'code', 'genui', 'data_extraction', 'domain_analysis']) {
        for (const stream of [false, true]) {
          expect((await target.send('POST', 'completions', { body: { prompt, mode, stream } })).status).toBe(200)
        }
      }
      await noBlocks(target)
    },
    300_000,
  )
  keepsItsPromises(target)
})

describe('I28 no large request holds up the server', async () => {
  const target = await startTarget({ engine: 'builtin', env: ROOMY_ENGINE })
  const megabytes = (count: number) => 'x y '.repeat((count * 1024 * 1024) / 4)
  const talk = (turns: number) => ({
    messages: Array.from({ length: turns }, () => ({ role: 'user', content: megabytes(1).slice(0, 1_000_000) })),
  })
  const pixel = Buffer.from(PIXEL, 'base64')
  const picture = Buffer.concat([pixel, Buffer.alloc(15 * 1024 * 1024 - pixel.length, 7)]).toString('base64')
  const bodies: [string, string, object][] = [
    ['a prompt of a million characters', 'completions', { prompt: megabytes(1).slice(0, 1_000_000) }],
    ['an inline conversation of 20 MB', 'completions', { prompt: 'x', conversation: talk(20) }],
    ['an inline conversation of 8 MB, which fits', 'completions', { prompt: 'x', conversation: talk(8) }],
    [
      'a picture of 15 MiB',
      'completions',
      { prompt: 'x', mode: 'vision', attachments: [{ type: 'image_base64', mime_type: 'image/png', data: picture }] },
    ],
    [
      '10,000 messages',
      'chat/completions',
      {
        messages: Array.from({ length: 10_000 }, (_, n) => ({
          role: n % 2 ? 'assistant' : 'user',
          content: 'word '.repeat(20),
        }))
          .concat([{ role: 'user', content: 'x' }])
          .slice(1),
      },
    ],
    [
      '100,000 parts',
      'chat/completions',
      { messages: [{ role: 'user', content: Array.from({ length: 100_000 }, () => ({ type: 'text', text: 'x' })) }] },
    ],
    [
      '100,000 parts and a wrong one',
      'chat/completions',
      {
        messages: [
          {
            role: 'user',
            content: [...Array.from({ length: 100_000 }, () => ({ type: 'text', text: 'x' })), { type: 'no' }],
          },
        ],
      },
    ],
    [
      'a million strangers',
      'completions',
      { prompt: 'x', ...Object.fromEntries(Array.from({ length: 300_000 }, (_, n) => [`s${n}`, n])) },
    ],
    [
      'a list of a million where a word should be',
      'completions',
      { prompt: Array.from({ length: 1_000_000 }, (_, n) => n) },
    ],
    [
      'overrides of 100,000 modes',
      'completions',
      {
        prompt: 'x',
        model_overrides: Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`m${n}`, 'svc-1-flash'])),
      },
    ],
    [
      '64 tools of 300 KB',
      'completions',
      {
        prompt: 'x',
        tools: Array.from({ length: 64 }, (_, n) => ({
          name: `t${n}`,
          description: 'd',
          input_schema: { description: 'x'.repeat(300_000) },
        })),
      },
    ],
  ]
  test.each(bodies)(
    '%s',
    async (_, path, body) => {
      expect((await target.send('POST', path, { body })).status).toBeOneOf([200, 400, 413])
      await noBlocks(target)
    },
    180_000,
  )
  keepsItsPromises(target)
})
