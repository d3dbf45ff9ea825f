/** The modes a text alone can ask for; `vision` needs a picture (contract 22.2). Their order is the model file's. */
export const TEXT_MODES = [
  ...(['fast', 'think', 'code', 'image', 'video'] as const),
  ...(['research', 'roast', 'genui', 'data_extraction', 'domain_analysis'] as const),
]

export type TextMode = (typeof TEXT_MODES)[number]

export const isTextMode = (word: unknown): word is TextMode => TEXT_MODES.some((mode) => mode === word)
