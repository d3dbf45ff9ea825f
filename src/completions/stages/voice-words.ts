import type { Ask } from '../ask'

type Voice = Ask['voice']

const USUAL_LIBRARY = 'svc'

/** All that a caller writes in its own words of how it wants to be answered; empty where nothing is its own. */
export const wordsOfVoice = ({ persona, style, componentLibrary }: Voice): string[] => [
  typeof persona === 'object' ? persona.system_prompt : '',
  style?.format ?? '',
  style?.preciseness ?? '',
  style?.intent ?? '',
  componentLibrary === USUAL_LIBRARY ? '' : componentLibrary,
]

/** The same voice in these words, in the order of {@link wordsOfVoice}. */
export function withVoice(voice: Voice, [prompt, format, preciseness, intent, componentLibrary]: string[]): Voice {
  const { persona, style } = voice
  return {
    ...voice,
    persona: typeof persona === 'object' ? { system_prompt: prompt! } : persona,
    style: style && { format, preciseness, intent },
    componentLibrary: componentLibrary || voice.componentLibrary,
  }
}
