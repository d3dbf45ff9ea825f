import { expect, test } from 'bun:test'
import { createClassifier, createExplain, type EngineClassifier, type Rule } from '../../../src/routing'
import { fakeClock } from '../../support/clock'

const engine: EngineClassifier = { available: () => false, opinion: async () => null }
const explain = createExplain({ classifier: createClassifier(), engine, clock: fakeClock() })

test('a choice is explained by the stages that made it, each looked at once', async () => {
  const looks: string[] = []
  const rule = (mode: string, pattern: RegExp): Rule => ({
    mode,
    confidence: 0.9,
    engine: null,
    reasoning: null,
    preferenceId: null,
    pattern: pattern.source,
    matches: (prompt) => {
      looks.push(pattern.source)
      return pattern.test(prompt)
    },
  })
  const guidance = {
    preferenceId: null,
    rules: [rule('roast', /whale/), rule('think', /cat/)],
    floors: {},
    examples: [],
  }
  const request = { prompt: 'Draw a cat', hasImages: false, guidance, signal: new AbortController().signal }
  const { choice, stages } = await explain({ ...request, answers: () => true }, null)
  expect(choice).toMatchObject({ mode: 'think', source: 'rule', confidence: 0.9 })
  expect(stages).toMatchObject([
    { stage: 'rule', mode: 'think', matched: 'cat', floor: 0.85 },
    { stage: 'heuristic', mode: 'image' },
    { stage: 'local', matched: null },
  ])
  expect(looks).toEqual(['whale', 'cat'])
})
