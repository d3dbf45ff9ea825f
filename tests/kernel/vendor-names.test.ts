import { describe, expect, test } from 'bun:test'
import { vendorNamedIn } from '../../src/kernel/vendor-names'

describe('labels that name an upstream vendor', () => {
  test.each([
    ['OpenAI defaults', 'openai'],
    ['oPeNaI', 'openai'],
    ['o p e n a i', 'openai'],
    ['open-ai only', 'openai'],
    ['o.p.e.n.a.i', 'openai'],
    ['MyOpenAIRules', 'openai'],
    ['0p3nA1', 'openai'],
    ['оpеnаi', 'openai'],
    ['o\u200bpen\u2060ai', 'openai'],
    ['ＯｐｅｎＡＩ', 'openai'],
    ['ópenâi', 'openai'],
    ['gpt-4o for code', 'gpt'],
    ['GPT4', 'gpt'],
    ['Chat GPT', 'chatgpt'],
    ['claude_3', 'claude'],
    ['Anthr0pic', 'anthropic'],
    ['LLaMA-3 route', 'llama'],
    ['deep seek', 'deepseek'],
    ['сlаudе', 'claude'],
  ])('%s', (label, vendor) => {
    expect(vendorNamedIn(label)).toBe(vendor)
  })

  test.each([
    'Support, safe',
    'metadata rules',
    'Claudette Colbert fans',
    'misanthropic jokes',
    'philanthropic giving',
    'open air concerts',
    'open aid requests',
    'coherent answers',
    'mistralian winds',
    'ungrokkable',
    'Copenhagen AI meetup',
    'The llamas of Peru',
    'Reopen a ticket',
    'deep seeking',
    'Kimiko writes',
    '',
  ])('%s names none', (label) => {
    expect(vendorNamedIn(label)).toBeNull()
  })

  test('a long label is read in no time', () => {
    const started = performance.now()
    vendorNamedIn('o.'.repeat(500_000))
    expect(performance.now() - started).toBeLessThan(100)
  })
})
