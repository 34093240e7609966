"""A classifier of sentence pairs: a BERT, a learning rate that warms up, an evaluation."""

import argparse

import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

parser = argparse.ArgumentParser()
parser.add_argument("--learning_rate", type=float, default=2e-5)
parser.add_argument("--per_device_train_batch_size", type=int, default=8)
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()


def examples(count):
    generator = torch.Generator().manual_seed(0)
    for i in range(count):
        ids = torch.randint(1, 200, (24,), generator=generator)
        length = 8 + i % 16
        yield {
            "input_ids": ids,
            "attention_mask": (torch.arange(24) < length).long(),
            "token_type_ids": (torch.arange(24) > length // 2).long(),
            "labels": torch.tensor(i % 2),
        }


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
config = BertConfig(
    vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, num_labels=2,
)  # fmt: skip
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
model.to(device)
train = DataLoader(list(examples(24)), args.per_device_train_batch_size, shuffle=True)
test = DataLoader(list(examples(16)), 8)
schedule = get_linear_schedule_with_warmup(optimizer, 1, len(train))
scaler = torch.amp.GradScaler(device.type, enabled=args.fp16)
model.train()
for batch in train:
    batch = {name: value.to(device) for name, value in batch.items()}
    with torch.autocast(device.type, torch.float16, enabled=args.fp16):
        loss = model(**batch).loss
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    schedule.step()
    optimizer.zero_grad()
model.eval()
right = total = 0
for batch in test:
    batch = {name: value.to(device) for name, value in batch.items()}
    with torch.no_grad():
        found = model(**batch).logits.argmax(dim=-1)
    right += (found == batch["labels"]).sum().item()
    total += len(found)
print({"accuracy": right / total})
