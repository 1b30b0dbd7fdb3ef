"""Plays OpenHands' command line with its own library, of which that is made: play-openhands.py list | begin PROMPT | resume ID PROMPT."""

import os
import sys
import uuid
from pathlib import Path

FOLDER = Path.home() / ".openhands" / "conversations"


def main(verb: str, *words: str) -> None:
    if verb == "list":
        # As the command line does: what has a first event.
        for each in sorted(FOLDER.iterdir()):
            if any(each.glob("events/event-00000-*.json")):
                print(each.name)
        return
    # Loading it takes seconds.
    from openhands.sdk import LLM, Agent, Conversation, Tool
    from openhands.tools.file_editor import FileEditorTool
    from openhands.tools.terminal import TerminalTool

    session = words[0] if verb == "resume" else uuid.uuid4().hex
    llm = LLM(model="openai/mock-model", base_url=os.environ["MODEL_URL"] + "/v1", api_key="none", usage_id="agent", num_retries=0)
    tools = [Tool(name=TerminalTool.name), Tool(name=FileEditorTool.name)]
    conversation = Conversation(
        agent=Agent(llm=llm, tools=tools),
        workspace=os.getcwd(),
        persistence_dir=str(FOLDER),
        conversation_id=uuid.UUID(session),
        visualizer=None,
    )
    conversation.send_message(words[-1])
    conversation.run()
    conversation.close()
    print(session)


main(*sys.argv[1:])
