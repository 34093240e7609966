"""A Llama trained to go on with text: gradient checkpointing, bfloat16, a cosine schedule."""

import argparse

import torch
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM, get_cosine_schedule_with_warmup

parser = argparse.ArgumentParser()
parser.add_argument("--block_size", type=int, default=64)
parser.add_argument("--gradient_accumulation_steps", type=int, default=2)
parser.add_argument("--gradient_checkpointing", action="store_true")
parser.add_argument("--output_dir", default="clm")
args = parser.parse_args()

config = LlamaConfig(
    vocab_size=300, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2,
)  # fmt: skip
model = LlamaForCausalLM(config).to("cuda", torch.bfloat16)
if args.gradient_checkpointing:
    model.gradient_checkpointing_enable()
    model.config.use_cache = False
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, foreach=True)
schedule = get_cosine_schedule_with_warmup(optimizer, 1, 4)
blocks = torch.randint(0, 300, (16, args.block_size))
model.train()
for step, ids in enumerate(DataLoader(blocks, 4)):
    ids = ids.to("cuda")
    loss = model(input_ids=ids, labels=ids).loss / args.gradient_accumulation_steps
    loss.backward()
    if (step + 1) % args.gradient_accumulation_steps == 0:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
model.save_pretrained(args.output_dir)
