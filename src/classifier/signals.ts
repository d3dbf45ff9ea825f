import { ENGLISH } from './signals/english'

export type Found = { mode: string; confidence: number; reasoning: string }

/** Only the beginning is searched for an instruction; what follows is mostly the text it is about. */
const HEAD_CHARS = 400

/** Modes that win over `vision` when an image is attached (contract 2.1). */
const STRONGER_THAN_A_PICTURE = new Set(['data_extraction', 'image', 'video'])

/** The first clear signal of a prompt: deterministic, for words that leave no doubt (contract 22.2, stage 2). */
export function clearSignal(prompt: string, hasImages: boolean): Found | null {
  const head = prompt.slice(0, HEAD_CHARS).trim().replace(/\s+/g, ' ')
  const signal = ENGLISH.find(({ fires, unless }) => fires.test(head) && !unless?.test(head))
  if (hasImages && !(signal && STRONGER_THAN_A_PICTURE.has(signal.mode))) {
    return { mode: 'vision', confidence: 0.97, reasoning: 'an image is attached' }
  }
  return signal ? { mode: signal.mode, confidence: signal.confidence, reasoning: signal.reasoning } : null
}
