import type { Ask } from '../ask'

type Voice = Ask['voice']

const USUAL_LIBRARY = 'svc'

/** The texts by which a caller says how to answer; empty where nothing is the caller's own. */
export const wordsOfVoice = ({ persona, style, componentLibrary }: Voice): string[] => [
  typeof persona === 'object' ? persona.system_prompt : '',
  style?.format ?? '',
  style?.preciseness ?? '',
  style?.intent ?? '',
  componentLibrary === USUAL_LIBRARY ? '' : componentLibrary,
]

/** The voice with these texts, in the order of {@link wordsOfVoice}. */
export function withVoice(voice: Voice, [prompt, format, preciseness, intent, componentLibrary]: string[]): Voice {
  const { persona, style } = voice
  return {
    ...voice,
    persona: typeof persona === 'object' ? { system_prompt: prompt! } : persona,
    style: style && { format, preciseness, intent },
    componentLibrary: componentLibrary || voice.componentLibrary,
  }
}
