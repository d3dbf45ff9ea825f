/** Text of `svc-admin help manifest`: a sample manifest that passes review, with instructions as comments. */
export const MANIFEST_PAGE = `# A complete skill. Save it as a file and change it:
#
#   svc-admin help manifest > tides.yaml
#   svc-admin skills validate tides.yaml       checks it, and predicts its review tier
#   svc-admin skills submit tides.yaml         prints the id of the submission
#   svc-admin submissions approve ID --yes --reason "read"    if a person must review it
#   svc-admin skills install tide-tables --key "Dev laptop"
#   svc-admin try "When is high tide in Hollowport on Sunday?"

name: Tide tables                  # one line, up to 128 characters
slug: tide-tables                  # its name in URLs; it can never change
version: 1.0.0                     # each new version must be higher; submit it with --skill-id
description: Answers questions about tides in Hollowport.
category: domain                   # productivity, domain, integration, automation, creative
author:
  name: Mira                       # email and url are optional

# Instructions for the engine when the skill runs, up to 20,000 characters.
systemPromptExtension: |
  Answer questions about tides from the tables. Name the harbour and the day.

# Files it can quote: inline as here, or next to this file. A person reviews them first.
knowledge:
  - tides.md
knowledgeFiles:
  tides.md: |
    High tide in Hollowport on Sunday is at 07:42 and reaches 4.1 metres.

    Low tide in Hollowport on Sunday is at 13:55.

# Without a trigger the skill runs for every prompt. With this one, the prompt must contain one of the words.
trigger:
  type: keyword
  config:
    keywords: [tide, tides]

# Optional members. Tools need the permission execute:tools. A tool with an endpoint also needs external:http; the
# endpoint gets {tool, arguments, request_id} as JSON. A call of a tool without an endpoint is returned to the caller.
# tools:
#   - name: book_boat
#     description: Books a boat at the harbour.
#     inputSchema: { type: object, properties: { day: { type: string } }, required: [day] }
#     requiresApproval: true       # runs only for callers who send metadata.approved_tools: [book_boat]
# permissions: [execute:tools]     # read:conversations, read:artifacts, write:artifacts, write:notes,
#                                  # external:http, execute:tools, autonomous:run
# modelPreference: svc-1-flash     # GET /models lists them
# configSchema: { type: object, properties: { units: { enum: [metres, feet] } } }
# hooks: { onInstall: "Greet the user who installed this and say what you can do." }
# readme, changelog, setupGuide: Markdown
# license: MIT
# keywords: [tides, harbour]       # search words in the store, up to 10
# repository: https://example.com/tides`
