/** The public part of a widget's config, which the server writes into the page (docs/api.md 15). */
export type PublicConfig = {
  id: string
  name: string
  appearance: {
    primaryColor?: string
    position?: string
    borderRadius?: number
    fontFamily?: string
    customCss?: string
    title?: string
    logoUrl?: string | null
    avatarUrl?: string | null
    launcherText?: string | null
    theme?: 'light' | 'dark' | 'auto'
    hideBranding?: boolean
  }
  behavior: {
    welcomeMessage?: string | null
    placeholder?: string | null
    maxPromptLength?: number
    enableFileUpload?: boolean
    suggestedPrompts?: string[]
  }
  security?: { requireTurnstile?: boolean; turnstileSiteKey?: string | null; turnstileScript?: string | null }
  /** True if visitors may ask for a person. */
  handoff?: boolean
}

export type Status = 'ai' | 'requested' | 'human'

export type Message = {
  id: string
  role: 'user' | 'assistant' | 'operator' | 'system'
  content: string
  artifacts?: { url?: string | null; title?: string | null; filename?: string; type?: string }[]
  created_at: string
}

export type Attachment = { type: 'image_base64'; data: string; mime_type: string }

export type Takeover = {
  takeover_status: Status
  operator?: { id: string; name: string | null } | null
  usual_wait_s?: number
}

export type Current = {
  session_id: string
  status: 'open' | 'closed'
  takeover_status: Status
  messages: Message[]
}
