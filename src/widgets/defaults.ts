import type { Behavior, Groups } from './schema'

/** What a new widget has where its order says nothing (contract 15). */
export const DEFAULTS: Groups = {
  appearance: {
    primaryColor: '#2563eb',
    position: 'bottom-right',
    borderRadius: 16,
    fontFamily: 'system-ui, sans-serif',
    customCss: '',
    title: '',
    logoUrl: '',
    avatarUrl: '',
    launcherText: '',
    theme: 'auto',
    hideBranding: false,
  },
  behavior: {
    welcomeMessage: '',
    placeholder: '',
    maxPromptLength: 2_000,
    enableFileUpload: false,
    enableVoice: false,
    strictAbuse: false,
    mode: 'auto',
    skills: [],
    suggestedPrompts: [],
    persona: 'svc',
  },
  security: { requireTurnstile: false, allowedOrigins: [], sessionTtlMinutes: 1_440, maxMessagesPerSession: 200 },
  intents: { enabled: true, keywords: [], action: 'takeover', url: null, message: null },
}

type Persona = Behavior['persona']

/** The persona of a stored widget. Those made before it was that of a completion have its words alone, or none. */
export function personaOf(stored: Persona | string): Persona {
  if (typeof stored !== 'string' || stored === 'svc' || stored === 'none') return stored as Persona
  return stored ? { system_prompt: stored } : 'svc'
}
