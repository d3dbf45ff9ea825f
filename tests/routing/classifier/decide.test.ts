import { describe, expect, test } from 'bun:test'
import { createClassifier } from '../../../src/routing'
import { effortOf } from '../../support/effort'

const { decide } = createClassifier()
const auto = (prompt: string, hasImages = false) => decide({ mode: 'auto', prompt, hasImages })

/** Prompts that leave no doubt, by the mode they must get. */
const CLEAR: Record<string, string[]> = {
  image: [
    'Draw a red bicycle',
    'Please draw me a cat on the moon',
    'Can you draw a castle at sunset?',
    'generate an image of a mountain lake',
    'Create a logo for my coffee shop',
    'paint a field of lavender',
    'A photo of an old lighthouse in the fog',
    'make me a minimalist poster about jazz',
    'sketch the Eiffel Tower',
    'vẽ cho tôi một con mèo',
    'Narysuj mi psa w kosmosie',
    'Teken een huis aan zee',
    'намалюй кота в капелюсі',
  ],
  code: [
    'Write a function that reverses a string',
    'write a React component for a date picker',
    'Implement quicksort in Rust',
    'please write a python script to rename files',
    'Create a regex that matches phone numbers',
    'Fix this: TypeError: undefined is not a function',
    'debug my SQL query',
    'Write a class for a bank account',
    'draw a circle in SVG',
    'Draw a UML diagram of the login flow in mermaid',
    'Parse JSON in Python',
  ],
  research: [
    'Research the history of the bicycle',
    'Do some research on solid-state batteries',
    'conduct a literature review on sleep',
    'investigate why bees are dying',
  ],
  video: [
    'Make a video of a sunrise over the sea',
    'create a short animation of a bouncing ball',
    'Animate a walking robot',
  ],
  roast: ['Roast my resume: ten years of synergy', 'please roast me', 'roast this landing page'],
  data_extraction: [
    'Extract all e-mail addresses from the text below',
    'extract the invoice number and total from: Invoice 12',
    'Convert this to JSON: name Ada, age 36',
    'Pull out the dates from this letter',
  ],
  think: ['Think step by step: which door is right?', 'Prove that there are infinitely many primes'],
}

/** Such as the local model is sure of by itself, without a signal. */
const LEARNT: Record<string, string[]> = {
  image: [
    'Zeichne mir ein Pferd',
    'Erstelle ein Bild von einem Hund',
    'Dessine-moi un mouton',
    'Génère une image de la mer',
    'Dibuja un gato',
    'crea una imagen de un bosque',
    'desenhe um barco',
    '画一只猫',
    '生成一张图片',
    '猫の絵を描いて',
  ],
  code: [
    'Schreibe eine Funktion, die zwei Zahlen addiert',
    'Écris une fonction qui trie une liste',
    'Escribe una función en Go',
  ],
  research: ['Recherchiere die Geschichte des Fahrrads', 'Fais des recherches sur les abeilles'],
  video: ['Erstelle ein Video von einem Fluss', 'Crée une vidéo de la ville', '生成一段视频'],
  data_extraction: ['Extrahiere alle Namen aus dem Text'],
  genui: ['Design a UI for a weather app', 'Build an interactive dashboard with three charts'],
  domain_analysis: ['Do a SWOT analysis of my bakery', 'Market analysis for electric scooters'],
}

/** Prompts with a tempting word that mean something else. */
const TRAPS = [
  'Draw up a contract for a freelance designer',
  'draw a conclusion from these numbers',
  'Rita Hayworth was born when?',
  'Draw attention to the main risks in this memo',
  'Picture this: you are on a beach. What do you do?',
  'What does our code of conduct say about gifts?',
  'Write a code of conduct for our team',
  'write a dress code for the party',
  'What is my zip code?',
  'Make a picture gallery page description',
  'How do I draw a circle?',
  'Who painted the Mona Lisa?',
  'Make a video game recommendation list',
  'write a video script about gardening',
  'Research shows that sleep matters. Is that true?',
  'Write a research paper title about bees',
  'Roast this chicken for 40 minutes at what temperature?',
  'How long should I roast potatoes?',
  'The component failed the vibration test. Why?',
  'What is the function of the heart?',
  'Write a program for the wedding ceremony',
  'Write a movie script about a lonely robot',
  'male pattern baldness causes',
  'I am in the class of 2010',
  'vanilla extract substitute',
  'Jason went to the market',
  'Explain image recognition',
  'create a docker image naming policy',
  'The picture of health',
  'Say hello in five words',
  'Count to five slowly',
  'What is the capital of France?',
  '¿Cuál es la capital de Francia?',
  'Wie spät ist es in Tokio?',
]

for (const [mode, prompts] of Object.entries(CLEAR)) {
  test.each(prompts)(`${mode}: %s`, (prompt) => {
    expect(auto(prompt)).toMatchObject({ mode, source: 'heuristic' })
    expect(auto(prompt).confidence).toBeGreaterThanOrEqual(0.85)
  })
}

for (const [mode, prompts] of Object.entries(LEARNT)) {
  test.each(prompts)(`${mode} without a signal: %s`, (prompt) => {
    expect(auto(prompt)).toMatchObject({ mode, source: 'local' })
  })
}

test.each(TRAPS)('no signal fires, and nothing else is tempted, on: %s', (prompt) => {
  const { mode, source } = auto(prompt)
  expect(mode).toBe('fast')
  expect(source).not.toBe('heuristic')
})

describe('stages', () => {
  test('an explicit mode is taken as it is', () => {
    expect(decide({ mode: 'think', prompt: 'Draw a cat', hasImages: true })).toEqual({
      mode: 'think',
      source: 'explicit',
      confidence: null,
      reasoning: null,
      engine: null,
      preferenceId: null,
    })
  })

  test.each([
    [null, 'code', 'code', 'explicit'],
    [null, 'auto', 'image', 'heuristic'],
    ['auto', 'code', 'image', 'heuristic'],
    [null, null, 'image', 'heuristic'],
  ])('mode %p with account default %p gives %s by %s', (mode, defaultMode, chosen, source) => {
    expect(decide({ mode, defaultMode, prompt: 'Draw a cat', hasImages: false })).toMatchObject({
      mode: chosen,
      source,
    })
  })

  test.each([
    ['What is this?', 'vision'],
    ['', 'vision'],
    ['Roast this outfit', 'vision'],
    ['Extract the total amount from this receipt', 'data_extraction'],
    ['Draw a cartoon of this person', 'image'],
  ])('a picture attached to %p gives %s', (prompt, mode) => {
    expect(auto(prompt, true)).toMatchObject({ mode, source: 'heuristic' })
  })

  test('the reasoning never repeats the prompt', () => {
    expect(auto('Draw a SECRET-PLAN poster').reasoning).not.toContain('SECRET')
  })

  test.each([
    ['a'.repeat(1_000_000)],
    [`write a ${'very '.repeat(200_000)}function`],
    [`make ${'x-'.repeat(400)} video`],
    [' '.repeat(500_000)],
    ['draw '.repeat(100_000)],
  ])('a hostile prompt costs no time', async (prompt) => {
    expect(await effortOf(() => auto(prompt), 20)).toBeLessThan(20)
  })
})
