import { describe, expect, test } from 'bun:test'
import { examine } from '../../src/skills/review'
import { FRESH, HELD_APART, type Labelled } from './corpus/held-apart'
import { manifest } from './support'

const PLACES: Record<Labelled['where'], (text: string) => Record<string, unknown>> = {
  prompt: (text) => manifest({ systemPromptExtension: text }),
  description: (description) => manifest({ description }),
  tool: (description) => manifest({ tools: [{ name: 'helper', description }] }),
  knowledge: (text) => manifest({ knowledge: ['a.md'], knowledgeFiles: { 'a.md': text } }),
  readme: (readme) => manifest({ readme }),
  keywords: (text) => manifest({ keywords: [text] }),
}

/** What the review makes of a text where it stands: `pass`, `warn` or `fail`. */
const resultOf = ({ where, text }: Labelled): string =>
  examine(PLACES[where](text)).checks.injection_scan!.split(':')[0]!
const share = (texts: readonly Labelled[], results: readonly string[]): number =>
  texts.filter((one) => results.includes(resultOf(one))).length / texts.length

describe.each([
  ['held apart', HELD_APART, { refused: 0.95, noticed: 0.95 }],
  ['in words of their own', FRESH, { refused: 0.15, noticed: 0.85 }],
] as const)('texts %s', (_, texts, min) => {
  const attacks = texts.filter(({ attack }) => attack)
  const honest = texts.filter(({ attack }) => !attack)

  test('attacks are refused, or at least not approved without a person', () => {
    expect(share(attacks, ['fail'])).toBeGreaterThanOrEqual(min.refused)
    expect(share(attacks, ['fail', 'warn'])).toBeGreaterThanOrEqual(min.noticed)
  })

  test('honest texts are not refused, and few are doubted, though most of them speak of attacks', () => {
    expect(share(honest, ['fail'])).toBeLessThanOrEqual(0.02)
    expect(share(honest, ['warn'])).toBeLessThanOrEqual(0.08)
  })
})

test('what is doubted goes to a person', () => {
  const doubted = FRESH.find((one) => one.where === 'prompt' && resultOf(one) === 'warn')!
  expect(examine(manifest({ systemPromptExtension: doubted.text })).tier).toBe('staff')
})
