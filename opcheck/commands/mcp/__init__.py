"""Give the commands to editors and assistants, as tools by MCP.

Such a program starts it, and speaks the Model Context Protocol with it over stdin and stdout: the
tools are scan, plan, fix, explain and targets. Model files are as hostile as on the command line,
one call runs at a time, and a long answer comes in parts. Needs pip install 'opcheck[mcp]'.
"""

PURPOSE = "data"
