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
    ['c1aude', 'claude'],
    ['m1stral large', 'mistral'],
    ['1lama 3', 'llama'],
    ['a n t h r o p i c', 'anthropic'],
    ['Google Gemini first', 'google'],
    ['Grok for jokes', 'grok'],
    ['Claude Monet, answered by Claude', 'claude'],
    ['grok the docs with GPT-4', 'gpt'],
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
    'lama',
    'mystral wind',
    'mistral wind warnings',
    'grok the concept',
    'helps to grok',
    'Claude Monet paintings',
    'Jean-Claude Van Damme films',
    'gemini horoscope',
    'llama farm bookings',
    'Google Sheets formulas',
    'GPT partition tables',
    'the anthropic principle',
    'ideas that cohere with ours',
    'OpenAir 2026',
    'Copilot seats',
    '1 lamp, 1 chair',
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
